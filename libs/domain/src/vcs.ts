import type { HostHistory } from './host-history.ts';
import type { ProjectionAction } from './projections.ts';

/**
 * The port to the version-control host. libs/vcs has the only implementation (GitHub's REST API, which the sandbox
 * host speaks too); everything else knows the host through these types.
 */
export interface VcsHost {
  /** Which kind of host answers; it becomes `clientType` of projections. */
  readonly clientType: 'github' | 'sandbox';

  /** Login of the identity that writes; events sent by it never trigger a use case. */
  login(): Promise<string>;

  getRepo(repo: RepoRef): Promise<HostRepo>;

  /**
   * Issues (never pull requests) changed since `since`, oldest change first, any state; the numbers of pull requests
   * that changed come beside them, for hosts list both together. `etag` makes an unchanged answer cost nothing against
   * the host's limits: null = not changed since that etag.
   */
  listIssues(repo: RepoRef, query: IssueQuery): Promise<IssuePage | null>;

  /** null when the host has no such issue. */
  getIssue(repo: RepoRef, number: number): Promise<HostIssue | null>;
  /** Who changed an issue and when, by the host's own log; null when the host has no such issue. Two requests. */
  historyOf(repo: RepoRef, number: number): Promise<HostHistory | null>;
  /**
   * Whether an issue or a pull request is open; `missing` = the host has none of that number. With the etag of an earlier
   * answer an unchanged one is null and costs nothing against the host's limits.
   */
  standingOf(repo: RepoRef, number: number, etag?: string): Promise<Standing | null>;
  listComments(repo: RepoRef, number: number, since?: string): Promise<HostComment[]>;
  getPullRequest(repo: RepoRef, number: number): Promise<HostPullRequest | null>;
  /** Open and closed pull requests whose head is that branch of this repository, never of a fork; newest first. */
  findPullRequests(repo: RepoRef, headBranch: string): Promise<HostPullRequest[]>;
  listReviews(repo: RepoRef, prNumber: number): Promise<HostReview[]>;
  /** The right that decides whose commands and answers count; cached by the adapter for 5 minutes. */
  permissionOf(repo: RepoRef, login: string): Promise<'admin' | 'write' | 'read' | 'none'>;
  /** What keeps a writer from pushing straight to a branch. */
  pushProtectionOf(repo: RepoRef, branch: string): Promise<PushProtection>;
  /** Answers a command comment; a repeated reaction is one reaction. */
  react(repo: RepoRef, commentId: number, content: '+1' | 'confused'): Promise<void>;

  /** Carries out one outbox entry. Never throws for what the host said: the answer tells. */
  execute(
    repo: RepoRef,
    issueNumber: number,
    action: ProjectionAction,
    context: ExecuteContext,
  ): Promise<ExecuteResult>;
}

export interface PushProtection {
  /** Whether a push to the branch is refused; null = there is some protection that this identity may not read. */
  restricted: boolean | null;
  /** What restricts it, for people. */
  by: string[];
}

export interface Standing {
  state: 'open' | 'closed' | 'missing';
  etag: string | null;
}

export interface RepoRef {
  owner: string;
  name: string;
}

export interface IssueQuery {
  since?: string;
  labels?: string[];
  state: 'open' | 'closed' | 'all';
  etag?: string;
}

export interface IssuePage {
  issues: HostIssue[];
  changedPullRequests: ChangedPullRequest[];
  etag: string | null;
}

export interface ChangedPullRequest {
  number: number;
  updatedAt: string;
}

export interface HostRepo {
  owner: string;
  name: string;
  defaultBranch: string;
  cloneUrl: string;
  private: boolean;
}

export interface HostIssue {
  number: number;
  title: string;
  body: string;
  url: string;
  state: 'open' | 'closed';
  stateReason: 'completed' | 'not_planned' | 'reopened' | null;
  labels: string[];
  /** Logins of the people that it is assigned to, bots left out; absent = not reported. */
  assignees?: string[];
  author: string | null;
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
}

export interface HostComment {
  id: number;
  author: string | null;
  body: string;
  createdAt: string;
  updatedAt: string;
}

export interface HostPullRequest {
  number: number;
  title: string;
  body: string;
  url: string;
  state: 'open' | 'closed';
  merged: boolean;
  mergedAt: string | null;
  mergeCommitSha: string | null;
  /** `owner/name` of the repository that the branch lives in; null when that fork was deleted. */
  headRepo: string | null;
  headRef: string;
  headSha: string;
  baseRef: string;
  author: string | null;
  draft: boolean;
  createdAt: string;
  updatedAt: string;
}

export interface HostReview {
  id: number;
  author: string | null;
  verdict: 'approved' | 'changes_requested' | 'commented' | 'dismissed' | 'pending';
  body: string;
  submittedAt: string | null;
  commitSha: string | null;
}

export interface ExecuteContext {
  /** True when an earlier attempt may have reached the host: look before writing again. */
  mayHaveHappened: boolean;
  /** Logins, beside our own, whose pull requests count as the pipeline's own (setting `review.workerLogins`). */
  workerLogins?: readonly string[];
  signal?: AbortSignal;
  /** Checked right before each request that changes the host: false = this process may not write any more. */
  mayWrite?: () => boolean;
}

/**
 * - ok: done, or found done already. `created` is what the host numbered (comment id, issue or PR number, merge sha),
 *   and the host's time of an issue that was opened or closed.
 * - refused: the host will give the same answer again. `kind` tells mergePR's refusals apart.
 * - rate-limited: try at `retryAt`; the attempt is not counted.
 * - failed: worth another try after a backoff; `ambiguous` = the host may have carried it out all the same.
 */
export type ExecuteResult =
  | {
      status: 'ok';
      repeated: boolean;
      created: { number?: number; commentId?: number; sha?: string; url?: string; at?: string } | null;
    }
  | {
      status: 'refused';
      httpStatus: number;
      message: string;
      kind: 'not-ready' | 'conflict' | 'protected' | 'other';
      /** The head that a pull request has instead of the one that was to be merged. */
      headSha?: string;
    }
  | { status: 'rate-limited'; retryAt: string; message: string }
  | { status: 'failed'; message: string; ambiguous: boolean };

/** What the host tells us, whether a webhook brought it or a poll found it; both meet in the engine's intake. */
export type HostEvent =
  | {
      kind: 'issue';
      action: IssueAction;
      repo: RepoRef;
      issue: HostIssue;
      sender: string | null;
      label: string | null;
      /** Of `edited`: what was edited. */
      changed?: ('title' | 'body')[];
      /** When it was read from the host, by the store's clock; only of what a poll has seen. */
      readAt?: string;
    }
  | {
      kind: 'comment';
      repo: RepoRef;
      issueNumber: number;
      onPullRequest: boolean;
      comment: HostComment;
      issueAuthor: string | null;
      sender: string | null;
    }
  | {
      kind: 'pull-request';
      action: 'opened' | 'reopened' | 'closed' | 'merged' | 'synchronize' | 'edited' | 'seen';
      repo: RepoRef;
      pullRequest: HostPullRequest;
      sender: string | null;
      /** Of one that was seen by a poll: the store's time before the host was asked. */
      readAt?: string;
    }
  | { kind: 'review'; repo: RepoRef; prNumber: number; review: HostReview; sender: string | null }
  | {
      kind: 'checks';
      repo: RepoRef;
      headSha: string;
      prNumbers: number[];
      conclusion: string | null;
      sender: string | null;
    }
  | { kind: 'repositories'; installationId: number; added: RepoRef[]; removed: RepoRef[]; sender: string | null };

export type IssueAction =
  | 'opened'
  | 'edited'
  | 'labeled'
  | 'unlabeled'
  | 'assigned'
  | 'unassigned'
  | 'closed'
  | 'reopened'
  | 'seen';
