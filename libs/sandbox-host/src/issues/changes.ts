import { notFound } from '../http/failure.ts';
import { renderLabel, renderRepo, renderUser } from '../render/basics.ts';
import { renderComment, renderIssue } from '../render/issue.ts';
import { renderPull, renderReview } from '../render/pull.ts';
import type {
  CommentRecord,
  EventRecord,
  IssueRecord,
  PullIssue,
  RepoRecord,
  ReviewRecord,
  Sandbox,
} from '../state/model.ts';
import { timestamp } from '../state/sandbox.ts';

/** @throws Failure 404. */
export function issueOf({ state }: Sandbox, repo: RepoRecord, number: number): IssueRecord {
  const issue = Number.isSafeInteger(number) ? state.get('issue', repo.id, number) : undefined;
  if (!issue) throw notFound();
  return issue;
}

/** @throws Failure 404, for a plain issue as well. */
export function pullOf(sandbox: Sandbox, repo: RepoRecord, number: number): PullIssue {
  const issue = issueOf(sandbox, repo, number);
  if (!isPull(issue)) throw notFound();
  return issue;
}

export const isPull = (issue: IssueRecord): issue is PullIssue => issue.pull !== null;

/** Stores the issue with a new time of change. */
export function saveIssue<T extends IssueRecord>(sandbox: Sandbox, repo: RepoRecord, issue: T): T {
  const saved = { ...issue, updatedAt: timestamp(sandbox) };
  const { number: id, parentNumber } = saved;
  sandbox.state.put('issue', repo.id, saved, { id, ...(parentNumber === null ? {} : { parent: parentNumber }) });
  return saved;
}

type NewIssue = Pick<IssueRecord, 'title' | 'body' | 'labels' | 'author' | 'assignees' | 'pull'>;

/** Stores an issue or pull request under the repo's next number. */
export function addIssue<T extends NewIssue>(sandbox: Sandbox, repo: RepoRecord, fresh: T): IssueRecord & T {
  const current = sandbox.state.get('repo', 0, repo.id) ?? repo;
  const number = current.lastNumber + 1;
  sandbox.state.put('repo', 0, { ...current, lastNumber: number });
  const at = timestamp(sandbox);
  return saveIssue(sandbox, repo, {
    id: sandbox.state.nextId(),
    number,
    state: 'open' as const,
    stateReason: null,
    comments: 0,
    parentNumber: null,
    createdAt: at,
    updatedAt: at,
    closedAt: null,
    closedBy: null,
    ...fresh,
  });
}

/** Opens or closes and notifies the hooks; nothing happens when the issue is in that state. */
export function setOpen<T extends IssueRecord>(
  sandbox: Sandbox,
  repo: RepoRecord,
  issue: T,
  to: { open: boolean; reason: IssueRecord['stateReason']; by: string },
): T {
  if ((issue.state === 'open') === to.open) return issue;
  const saved = saveIssue(sandbox, repo, {
    ...issue,
    state: to.open ? 'open' : 'closed',
    stateReason: isPull(issue) ? null : to.reason,
    closedAt: to.open ? null : timestamp(sandbox),
    closedBy: to.open ? null : to.by,
  });
  const action = to.open ? 'reopened' : 'closed';
  addEvent(sandbox, repo, saved, { event: action, actor: to.by });
  announce(sandbox, repo, saved, { action, by: to.by });
  return saved;
}

type NewEvent = Pick<EventRecord, 'event' | 'actor'> & Partial<Pick<EventRecord, 'label' | 'rename' | 'removal'>>;

/** Adds an entry to the log of an issue. */
export function addEvent(sandbox: Sandbox, repo: RepoRecord, issue: IssueRecord, entry: NewEvent): void {
  const { state } = sandbox;
  const fresh = { id: state.nextId(), issueNumber: issue.number, label: null, rename: null, ...entry };
  state.put('event', repo.id, { ...fresh, createdAt: timestamp(sandbox) }, { parent: issue.number });
}

/** Notifies the hooks of a change of an issue or a pull request, under the event that the host uses for each. */
export function announce(
  sandbox: Sandbox,
  repo: RepoRecord,
  issue: IssueRecord,
  what: { action: string; by: string; extra?: object },
): void {
  const around = { ...what.extra, repository: renderRepo(sandbox, repo), sender: renderUser(sandbox, what.by) };
  if (isPull(issue)) {
    const pull = { ...renderPull(sandbox, repo, issue), merged: issue.pull.mergedAt !== null };
    const payload = { action: what.action, number: issue.number, pull_request: pull, ...around };
    sandbox.deliveries.emit('pull_request', payload);
  } else {
    const payload = { action: what.action, issue: renderIssue(sandbox, repo, issue), ...around };
    sandbox.deliveries.emit('issues', payload);
  }
}

export function announceComment(sandbox: Sandbox, repo: RepoRecord, issue: IssueRecord, comment: CommentRecord): void {
  sandbox.deliveries.emit('issue_comment', {
    action: 'created',
    issue: renderIssue(sandbox, repo, issue),
    comment: renderComment(sandbox, repo, comment),
    repository: renderRepo(sandbox, repo),
    sender: renderUser(sandbox, comment.author),
  });
}

export function announceReview(
  sandbox: Sandbox,
  repo: RepoRecord,
  issue: PullIssue,
  { action, review, by }: { action: 'submitted' | 'dismissed'; review: ReviewRecord; by: string },
): void {
  const rendered = renderReview(sandbox, repo, review);
  sandbox.deliveries.emit('pull_request_review', {
    action,
    // Webhooks spell the verdict in lower case, the REST API in capitals.
    review: { ...rendered, state: rendered.state.toLowerCase() },
    pull_request: renderPull(sandbox, repo, issue),
    repository: renderRepo(sandbox, repo),
    sender: renderUser(sandbox, by),
  });
}

/** Replaces the labels; unknown ones are created, and each one added or removed is announced. */
export function setLabels(
  sandbox: Sandbox,
  repo: RepoRecord,
  issue: IssueRecord,
  to: { labels: string[]; by: string },
) {
  const wanted = [...new Set(to.labels.map((name) => ensureLabel(sandbox, repo, name).name))];
  const added = wanted.filter((name) => !issue.labels.includes(name));
  const removed = issue.labels.filter((name) => !wanted.includes(name));
  if (added.length + removed.length === 0) return issue;
  const saved = saveIssue(sandbox, repo, { ...issue, labels: wanted });
  const announceLabel = (action: 'labeled' | 'unlabeled', name: string) => {
    const label = renderLabel(sandbox, repo, ensureLabel(sandbox, repo, name));
    addEvent(sandbox, repo, saved, { event: action, actor: to.by, label: { name, color: label.color } });
    announce(sandbox, repo, saved, { action, by: to.by, extra: { label } });
  };
  for (const name of added) announceLabel('labeled', name);
  for (const name of removed) announceLabel('unlabeled', name);
  return saved;
}

/** Replaces the assignees and sends a webhook for each added or removed one. */
export function setAssignees(
  sandbox: Sandbox,
  repo: RepoRecord,
  issue: IssueRecord,
  { assignees, by }: { assignees: string[]; by: string },
): IssueRecord {
  const added = assignees.filter((login) => !issue.assignees.includes(login));
  const removed = issue.assignees.filter((login) => !assignees.includes(login));
  if (added.length + removed.length === 0) return issue;
  const saved = saveIssue(sandbox, repo, { ...issue, assignees });
  const send = (action: 'assigned' | 'unassigned', login: string) =>
    announce(sandbox, repo, saved, { action, by, extra: { assignee: renderUser(sandbox, login) } });
  for (const login of added) send('assigned', login);
  for (const login of removed) send('unassigned', login);
  return saved;
}

/** Labels differ by more than upper and lower case. */
export function ensureLabel({ state }: Sandbox, repo: RepoRecord, name: string) {
  const known = state.list('label', repo.id).find((label) => label.name.toLowerCase() === name.toLowerCase());
  if (known) return known;
  const label = { id: state.nextId(), name, color: 'ededed', description: null };
  state.put('label', repo.id, label);
  return label;
}
