import type { HostCheck, MergeRules, ReportedCheck } from '../checks/checks.ts';
import type { ProjectionAction } from '../outbox/projections.ts';

/**
 * The port to the version-control host. libs/vcs has the only implementation (GitHub's REST API, which the sandbox host
 * implements too); all other code uses the host through these types.
 */
export interface VcsHost {
  /** The kind of host; stored as `clientType` of projections. */
  readonly clientType: 'github' | 'sandbox';

  /**
   * Login of the identity that writes. What it does is the pipeline's own, unless `isPerson` and no marker proves it.
   */
  login(): Promise<string>;
  /** Returns whether that identity is a person's account, which the person uses too; false for an app and for a bot. */
  isPerson(): Promise<boolean>;

  /** null when the host has no such repository, or hides it from this identity. A renamed one has its new name. */
  getRepo(repo: RepoRef): Promise<HostRepo | null>;

  /**
   * Issues (never pull requests) changed since `since`, oldest change first, any state; also the numbers of changed
   * pull requests, because hosts list both together. `etag` makes an unchanged response free of the host's rate limits:
   * null = not changed since that etag.
   */
  listIssues(repo: RepoRef, query: IssueQuery): Promise<IssuePage | null>;

  /** null when the host has no such issue. */
  getIssue(repo: RepoRef, number: number): Promise<HostIssue | null>;
  /** Lists who changed an issue and when, by the host's log; null when the host has no such issue. Two requests. */
  historyOf(repo: RepoRef, number: number): Promise<HostHistory | null>;
  /**
   * Returns whether an issue or a pull request is open; `missing` = the host has none of that number. With the etag of
   * an earlier response an unchanged one is null and free of the host's rate limits.
   */
  standingOf(repo: RepoRef, number: number, etag?: string): Promise<Standing | null>;
  listComments(repo: RepoRef, number: number, since?: string): Promise<HostComment[]>;
  getPullRequest(repo: RepoRef, number: number): Promise<HostPullRequest | null>;
  /** Open and closed pull requests whose head is that branch of this repository, never of a fork; newest first. */
  findPullRequests(repo: RepoRef, headBranch: string): Promise<HostPullRequest[]>;
  listReviews(repo: RepoRef, prNumber: number): Promise<HostReview[]>;
  /**
   * The permission that decides whose commands and answers are accepted; cached by the adapter for 5 minutes.
   * @param now true = read from the host, for approvals and merges.
   */
  permissionOf(repo: RepoRef, login: string, now?: boolean): Promise<'admin' | 'write' | 'read' | 'none'>;
  /** Logins that pushed to a branch of this repository, by the host's log of pushes; also after the branch is deleted. */
  pushersOf(repo: RepoRef, branch: string): Promise<string[]>;
  /** Returns whether an account created a branch whose name begins so, by the host's log of pushes. */
  hasCreatedBranch(repo: RepoRef, login: string, prefix: string): Promise<boolean>;
  /**
   * Creates the labels of a repo that it does not have, by name, with their descriptions.
   * @returns the created ones.
   */
  createLabels(repo: RepoRef, descriptions: Readonly<Record<string, string>>): Promise<string[]>;
  /** The rules that restrict direct pushes to a branch. */
  pushProtectionOf(repo: RepoRef, branch: string): Promise<PushProtection>;
  /** Check runs and commit statuses of a commit, the newest of each name. */
  checksOf(repo: RepoRef, sha: string): Promise<HostCheck[]>;
  /** Returns the rules of the host for a merge into a branch, as far as this identity may read them. */
  mergeRulesOf(repo: RepoRef, branch: string): Promise<MergeRules>;
  /**
   * Returns whether a branch has commits that `sha` does not contain; false when the host has no such commit any more.
   */
  isBehind(repo: RepoRef, branch: string, sha: string): Promise<boolean>;
  /** The end of what a failed check printed, as the host keeps it; null = nothing that this identity may read. */
  logTailOf(repo: RepoRef, check: HostCheck): Promise<string | null>;
  /** Asks the host to run a failed check run again. @throws what the host refuses. */
  rerunCheck(repo: RepoRef, check: HostCheck): Promise<void>;
  /** Reacts to a command comment; a repeated reaction is one reaction. */
  react(repo: RepoRef, commentId: number, content: '+1' | 'confused'): Promise<void>;

  /** Executes one outbox entry. Never throws for a host response: the result contains it. */
  execute(
    repo: RepoRef,
    issueNumber: number,
    action: ProjectionAction,
    context: ExecuteContext,
  ): Promise<ExecuteResult>;
}

export interface PushProtection {
  /** True = a push to the branch is refused; null = there is some protection that this identity may not read. */
  restricted: boolean | null;
  /** The restriction, in words for people. */
  by: string[];
}

export interface Standing {
  state: 'open' | 'closed' | 'missing';
  etag: string | null;
}

export interface RepoRef {
  owner: string;
  name: string;
  /**
   * Its id on the host, which a rename and a transfer keep. With it the repository is found whatever its name is now,
   * and another one that has taken the name is never read or written. null and absent = not known yet: found by its
   * name.
   */
  hostId?: number | null;
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
  id: number;
  owner: string;
  name: string;
  /** Read-only. */
  archived: boolean;
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
  /** Logins of the assignees without bots; absent = not reported. */
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
  /** `owner/name` of the repository of the branch; null when that fork was deleted. */
  headRepo: string | null;
  /** Its id on the host; absent = not reported. */
  headRepoId?: number;
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
  /** True when an earlier attempt may have reached the host: read before writing again. */
  mayHaveHappened: boolean;
  /** Logins, beside our own, whose pull requests are the pipeline's own (setting `review.workerLogins`). */
  workerLogins?: readonly string[];
  signal?: AbortSignal;
  /** Checked right before each request that changes the host: false = this process may no longer write. */
  mayWrite?: () => boolean;
}

/**
 * - ok: done, or found done already. `created` is the id from the host (comment id, issue or PR number, merge sha),
 *   and the host's time of an issue that was opened or closed.
 * - refused: the host will always refuse it. `kind` distinguishes mergePR's refusals; `queue-failed` = the merge queue
 *   tested it with the base branch, and checks failed.
 * - rate-limited: retry at `retryAt`; the attempt is not counted.
 * - queued: a merge waits in the host's merge queue; the entry is due again later and asks what became of it.
 * - no-access: this identity cannot reach the repository, or it is archived; the entry waits, uncounted, until it can.
 * - failed: retry after a backoff; `ambiguous` = the host may have executed it anyway.
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
      kind: 'not-ready' | 'draft' | 'conflict' | 'protected' | 'checks' | 'behind' | 'queue-failed' | 'other';
      /** Failed checks of the commit that the merge queue tested; only of `queue-failed`. */
      failed?: ReportedCheck[];
      /** The actual head of a pull request instead of the one to be merged. */
      headSha?: string;
    }
  | { status: 'rate-limited'; retryAt: string; message: string }
  | { status: 'queued'; message: string }
  | { status: 'no-access'; message: string }
  | { status: 'failed'; message: string; ambiguous: boolean };

/**
 * Host events from webhooks and polls; both are handled by the engine's intake. `repository`: its name or its state
 * changed.
 */
export type HostEvent =
  | {
      kind: 'issue';
      action: IssueAction;
      repo: RepoRef;
      issue: HostIssue;
      sender: string | null;
      label: string | null;
      /** Edited fields; only of `edited`. */
      changed?: ('title' | 'body')[];
      /** Time at which it was read from the host, by the store's clock; only for polls. */
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
      /** Time of the store before the request to the host; only for polls. */
      readAt?: string;
    }
  | { kind: 'review'; repo: RepoRef; prNumber: number; review: HostReview; sender: string | null }
  | {
      kind: 'checks';
      repo: RepoRef;
      headSha: string;
      prNumbers: number[];
      /** The reported checks; empty for the end of a suite. */
      checks: HostCheck[];
      sender: string | null;
    }
  | { kind: 'repository'; repo: RepoRef; sender: string | null }
  | {
      kind: 'repositories';
      installationId: number;
      /** The account that the app is installed on; its id stays when its login changes. */
      account: { id: number; login: string };
      /** URL at which people see the host, such as https://github.com. */
      webUrl: string;
      added: RepoRef[];
      removed: RepoRef[];
      sender: string | null;
    };

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

/** An entry of the host's own log of an issue. */
export interface HistoryEvent {
  /** Ids grow with time. */
  id: number;
  kind: 'labeled' | 'unlabeled' | 'closed' | 'reopened' | 'renamed';
  label: string | null;
  /** null = a deleted account. */
  actor: string | null;
  /** ISO 8601, whole seconds. */
  at: string;
}

/** The host's log of an issue: actors, actions and times. */
export interface HostHistory {
  /** Oldest first. */
  events: HistoryEvent[];
  /** The last edit of the body; null = it was never edited. */
  bodyEdit: { at: string; editor: string | null } | null;
}
