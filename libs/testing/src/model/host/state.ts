import {
  ENQUEUE_LABEL,
  formatSlug,
  type HistoryEvent,
  type HostComment,
  type HostEvent,
  type HostHistory,
  type HostIssue,
  type HostPullRequest,
  type HostReview,
  type RepoRef,
} from '@pipeline/domain';

export const BOT = 'pipeline-bot';

/** Two people with write permission, one with read permission, and the author of every issue. */
export const PEOPLE = { anna: 'write', ben: 'write', rob: 'read', alice: 'read' } as const;
/** A person without permissions who has a fork. */
export const STRANGER = 'mallory';
export type Person = keyof typeof PEOPLE;

type Draft<T> = Omit<T, 'url' | 'createdAt'>;

/** The content of the host, in memory. Every change queues a webhook. */
export class HostState {
  readonly issues = new Map<number, HostIssue>();
  readonly comments = new Map<number, HostComment[]>();
  readonly pulls = new Map<number, HostPullRequest>();
  readonly reviews = new Map<number, HostReview[]>();
  /** Reviews that were approvals when submitted, by id; a dismissal does not revert a merge. */
  readonly approvals = new Set<number>();
  readonly #heads = new Map<number, string[]>();
  readonly #pushed = new Map<string, readonly string[]>();
  /** Head of each branch. */
  readonly branches = new Map<string, string>();
  readonly webhooks: HostEvent[] = [];
  /** All webhooks sent so far: the host may repeat each. */
  readonly sent: HostEvent[] = [];
  /** Webhooks that the host sends much later. */
  readonly delayed: HostEvent[] = [];
  readonly log = new HostLog();
  readonly repo: RepoRef;
  readonly #now: () => Date;
  #lastId = 0;

  constructor(repo: RepoRef, now: () => Date) {
    this.repo = repo;
    this.#now = now;
  }

  /** The host's times have a resolution of one second. */
  at(): string {
    return `${this.#now().toISOString().slice(0, 19)}.000Z`;
  }

  /** Issues and pull requests share their numbers; comments and reviews have ids of their own. */
  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  openIssue(draft: Pick<HostIssue, 'title' | 'body' | 'labels'>, author: string): HostIssue {
    const number = this.nextId();
    const times = { createdAt: this.at(), updatedAt: this.at(), closedAt: null };
    const url = `http://host/issues/${number}`;
    const issue: HostIssue = { ...draft, number, url, author, state: 'open', stateReason: null, ...times };
    this.issues.set(number, issue);
    for (const label of issue.labels) this.log.add(issue, { kind: 'labeled', actor: author, label });
    if (author === BOT) this.log.approve(number, issue);
    this.#tellIssue(issue, 'opened', author);
    return issue;
  }

  /** Adds or removes labels, one webhook for each changed one. */
  label(number: number, change: { add?: readonly string[]; remove?: readonly string[] }, sender: string): void {
    const issue = this.issues.get(number);
    if (!issue) return;
    for (const label of change.remove ?? []) {
      if (!issue.labels.includes(label)) continue;
      issue.labels = issue.labels.filter((name) => name !== label);
      this.#tellIssue(issue, 'unlabeled', sender, label);
    }
    for (const label of change.add ?? []) {
      if (issue.labels.includes(label)) continue;
      issue.labels = [...issue.labels, label];
      this.#tellIssue(issue, 'labeled', sender, label);
    }
  }

  /** @returns whether that changed anything. */
  setOpen(number: number, open: boolean, sender: string): boolean {
    const issue = this.issues.get(number);
    if (!issue || (issue.state === 'open') === open) return false;
    Object.assign(issue, { state: open ? 'open' : 'closed', stateReason: open ? 'reopened' : 'completed' });
    issue.closedAt = open ? null : this.at();
    this.#tellIssue(issue, open ? 'reopened' : 'closed', sender);
    return true;
  }

  /** @param mayWrite whether agents may get the text. */
  edit(number: number, text: { title?: string; body?: string }, sender: string, mayWrite: boolean): void {
    const issue = this.issues.get(number);
    if (!issue) return;
    const changed = (['title', 'body'] as const).filter(
      (part) => text[part] !== undefined && text[part] !== issue[part],
    );
    if (changed.length === 0) return;
    Object.assign(issue, text, { updatedAt: this.at() });
    if (changed.includes('title')) this.log.add(issue, { kind: 'renamed', actor: sender });
    if (changed.includes('body')) this.log.of(number).bodyEdit = { at: issue.updatedAt, editor: sender };
    if (mayWrite) this.log.approve(number, text);
    this.#notify({ kind: 'issue', action: 'edited', repo: this.repo, issue, sender, label: null, changed });
  }

  say(number: number, body: string, author: string): HostComment {
    const comment = { id: this.nextId(), author, body, createdAt: this.at(), updatedAt: this.at() };
    this.comments.set(number, [...(this.comments.get(number) ?? []), comment]);
    const issue = this.issues.get(number);
    if (issue) issue.updatedAt = this.at();
    const issueAuthor = issue?.author ?? null;
    const about = { repo: this.repo, issueNumber: number, onPullRequest: false, issueAuthor };
    this.#notify({ kind: 'comment', ...about, comment, sender: author });
    return comment;
  }

  /** @param fork the head of a branch of a fork; without it the branch is in the repository itself. */
  openPull(
    draft: Pick<Draft<HostPullRequest>, 'title' | 'body' | 'headRef' | 'baseRef'>,
    author: string,
    fork?: { headRepo: string; headSha: string },
  ) {
    const number = this.nextId();
    const own = { headRepo: formatSlug(this.repo), headSha: this.branches.get(draft.headRef) ?? '' };
    const { headRepo, headSha } = fork ?? own;
    const rest = { state: 'open', merged: false, mergedAt: null, mergeCommitSha: null, draft: false } as const;
    const pull: HostPullRequest = {
      ...draft,
      ...rest,
      number,
      url: `http://host/pulls/${number}`,
      headRepo,
      headSha,
      author,
      createdAt: this.at(),
      updatedAt: this.at(),
    };
    this.pulls.set(number, pull);
    this.#heads.set(number, [headSha]);
    this.#tellPull(pull, 'opened', author);
    return pull;
  }

  /** Commits to a branch: its open pull requests have a new head. */
  push(branch: string, sha: string, sender: string): void {
    this.branches.set(branch, sha);
    this.#pushed.set(branch, [...this.pushedTo(branch), sha]);
    for (const pull of this.openPullsOf(branch)) this.moveHead(pull, sha, sender);
  }

  /** All commits that were ever pushed to a branch of the repository itself. */
  pushedTo(branch: string): readonly string[] {
    return this.#pushed.get(branch) ?? [];
  }

  moveHead(pull: HostPullRequest, sha: string, sender: string): void {
    pull.headSha = sha;
    this.#heads.set(pull.number, [...this.headsOf(pull.number), sha]);
    this.#tellPull(pull, 'synchronize', sender);
  }

  /** All heads of a pull request, oldest first. */
  headsOf(number: number): readonly string[] {
    return this.#heads.get(number) ?? [];
  }

  endPull(pull: HostPullRequest, merged: boolean, sender: string): void {
    if (pull.state === 'closed') return;
    Object.assign(pull, { state: 'closed', merged, mergedAt: merged ? this.at() : null });
    if (merged) pull.mergeCommitSha = `beef${pull.number}`;
    this.#tellPull(pull, merged ? 'merged' : 'closed', sender);
  }

  reopenPull(pull: HostPullRequest, sender: string): void {
    if (pull.state === 'open' || pull.merged || this.openPullsOf(pull.headRef).length > 0) return;
    const head = this.branches.get(pull.headRef);
    if (head === undefined) return;
    Object.assign(pull, { state: 'open', headSha: head });
    this.#heads.set(pull.number, [...this.headsOf(pull.number), head]);
    this.#tellPull(pull, 'reopened', sender);
  }

  review(
    pull: HostPullRequest,
    verdict: 'approved' | 'changes_requested',
    author: string,
    commitSha = pull.headSha,
  ): void {
    const times = { submittedAt: this.at(), commitSha };
    const review: HostReview = { id: this.nextId(), author, verdict, body: `I say ${verdict}`, ...times };
    if (verdict === 'approved') this.approvals.add(review.id);
    this.reviews.set(pull.number, [...(this.reviews.get(pull.number) ?? []), review]);
    pull.updatedAt = this.at();
    this.#notify({ kind: 'review', repo: this.repo, prNumber: pull.number, review, sender: author });
  }

  dismiss(pull: HostPullRequest, review: HostReview, sender: string): void {
    if (review.verdict === 'dismissed') return;
    review.verdict = 'dismissed';
    pull.updatedAt = this.at();
    this.#notify({ kind: 'review', repo: this.repo, prNumber: pull.number, review, sender });
  }

  /** Open pull requests from a branch of the repository itself. */
  openPullsOf(branch: string): HostPullRequest[] {
    return this.pullsOf(branch).filter((pull) => pull.state === 'open');
  }

  /** Pull requests from a branch of the repository itself, oldest first. */
  pullsOf(branch: string): HostPullRequest[] {
    return [...this.pulls.values()].filter((pull) => pull.headRef === branch && this.#isHere(pull));
  }

  /** Returns whether the pipeline opened it, from a branch of the repository itself. */
  isOwn(pull: HostPullRequest): boolean {
    return pull.author === BOT && this.#isHere(pull);
  }

  #isHere({ headRepo }: HostPullRequest): boolean {
    return headRepo === formatSlug(this.repo);
  }

  #tellIssue(
    issue: HostIssue,
    action: 'opened' | 'labeled' | 'unlabeled' | 'closed' | 'reopened',
    sender: string,
    label: string | null = null,
  ): void {
    issue.updatedAt = this.at();
    if (action !== 'opened') this.log.add(issue, { kind: action, actor: sender, label });
    this.#notify({ kind: 'issue', action, repo: this.repo, issue, sender, label });
  }

  #tellPull(
    pullRequest: HostPullRequest,
    action: 'opened' | 'reopened' | 'closed' | 'merged' | 'synchronize',
    sender: string,
  ): void {
    pullRequest.updatedAt = this.at();
    this.#notify({ kind: 'pull-request', action, repo: this.repo, pullRequest, sender });
  }

  #notify(event: HostEvent): void {
    this.webhooks.push(structuredClone(event));
    this.sent.push(structuredClone(event));
  }
}

/** The host's log of one issue, and which texts of it a person with write permission has enqueued or written. */
interface Log extends HostHistory {
  titles: Set<string>;
  bodies: Set<string>;
}

type Entry = Pick<HistoryEvent, 'kind' | 'actor'> & { label?: string | null };

/** The log entries of the model's host about changes of an issue. */
class HostLog {
  readonly #logs = new Map<number, Log>();
  #lastId = 0;

  of(number: number): Log {
    const log = this.#logs.get(number) ?? { events: [], bodyEdit: null, titles: new Set(), bodies: new Set() };
    this.#logs.set(number, log);
    return log;
  }

  /** The label for intake enqueues the current text; the host allows it only to people with triage permission. */
  add(issue: HostIssue, { kind, actor, label = null }: Entry): void {
    this.#lastId += 1;
    this.of(issue.number).events.push({ id: this.#lastId, kind, label, actor, at: issue.updatedAt });
    if (kind === 'labeled' && label === ENQUEUE_LABEL) this.approve(issue.number, issue);
  }

  /** Agents may get these parts of the text of an issue from now on. */
  approve(number: number, { title, body }: { title?: string; body?: string }): void {
    const log = this.of(number);
    if (title !== undefined) log.titles.add(title);
    if (body !== undefined) log.bodies.add(body);
  }
}
