import type {
  AppRecord,
  ConversionRecord,
  Grant,
  InstallationRecord,
  OauthAppRecord,
  OauthCodeRecord,
  OauthTokenRecord,
} from './app-records.ts';

/** Records of the sandbox host. Logins refer to users, label names to labels of the same repository. */
export interface Records {
  user: UserRecord;
  repo: RepoRecord;
  issue: IssueRecord;
  comment: CommentRecord;
  event: EventRecord;
  label: LabelRecord;
  review: ReviewRecord;
  status: StatusRecord;
  check: CheckRecord;
  suite: SuiteRecord;
  protection: ProtectionRecord;
  ruleset: RulesetRecord;
  hook: HookRecord;
  delivery: DeliveryRecord;
  app: AppRecord;
  installation: InstallationRecord;
  grant: Grant;
  activity: ActivityRecord;
  conversion: ConversionRecord;
  queueEntry: QueueEntryRecord;
  oauthApp: OauthAppRecord;
  oauthCode: OauthCodeRecord;
  oauthToken: OauthTokenRecord;
  counter: { id: number; last: number };
}
export type Kind = keyof Records;

export type Role = 'admin' | 'write' | 'triage' | 'read';

export type UserRecord = { id: number; login: string; token: string; type: 'User' | 'Bot'; createdAt: string };

export interface RepoRecord {
  id: number;
  owner: string;
  name: string;
  private: boolean;
  defaultBranch: string;
  /** Keyed by login in lower case. */
  collaborators: Record<string, Role>;
  /** Approving reviews that a merge needs; 0 = the branch is not protected. */
  requiredApprovals: number;
  lastNumber: number;
  /** Id of the repository that it is a fork of; null and absent = none. */
  forkOf?: number | null;
  /** Read-only; absent = not archived. */
  archived?: boolean;
  /** Slugs in lower case that it had before and that lead to it; absent = none. */
  formerSlugs?: string[];
  /** True = people may leave a merge to the host; absent = no. */
  allowAutoMerge?: boolean;
  /** Ways of merging that its settings allow; absent = all. */
  mergeMethods?: MergeMethod[];
  /** Checks that the host runs itself on the head of each pull request; absent = none. */
  ci?: CiJob[];
  createdAt: string;
  pushedAt: string;
}

export type MergeMethod = 'merge' | 'squash' | 'rebase';

/** A check that the host runs by itself, in place of a CI service. */
export interface CiJob {
  name: string;
  /** Duration in seconds. */
  seconds: number;
  /**
   * `first-fails`: fails on the first head of a branch and passes on later ones; `flaky`: passes when it is run again
   * on the same head; `never`: does not end.
   */
  outcome: 'success' | 'failure' | 'first-fails' | 'flaky' | 'never';
  log: string;
}

/** Issues and pull requests share one row of numbers, as on the real host. */
export interface IssueRecord {
  id: number;
  number: number;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  stateReason: 'completed' | 'not_planned' | 'duplicate' | 'reopened' | null;
  labels: string[];
  author: string;
  assignees: string[];
  comments: number;
  parentNumber: number | null;
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  closedBy: string | null;
  /** Last edit of the body; absent = never. */
  bodyEdit?: { at: string; editor: string };
  pull: PullRecord | null;
}

export interface PullRecord {
  /** Id of the repository of the head branch; absent = the repository itself. */
  headRepoId?: number;
  headOwner?: string;
  headRef: string;
  headSha: string;
  baseRef: string;
  baseSha: string;
  draft: boolean;
  mergedAt: string | null;
  mergedBy: string | null;
  mergeSha: string | null;
  /** The commit that a running merge is about to put on the base branch; settles a crash between git and here. */
  merging: { sha: string; by: string } | null;
  /** The host merges it when nothing is in the way any more; absent = it does not. */
  autoMerge?: { method: MergeMethod; by: string } | undefined;
  requestedReviewers: string[];
}
export type PullIssue = IssueRecord & { pull: PullRecord };

export interface CommentRecord {
  id: number;
  issueNumber: number;
  author: string;
  body: string;
  reactions: { id: number; login: string; content: string; createdAt: string }[];
  createdAt: string;
  updatedAt: string;
}

type LoggedEvent =
  | 'labeled'
  | 'unlabeled'
  | 'closed'
  | 'reopened'
  | 'renamed'
  | `${'added_to' | 'removed_from'}_merge_queue`;

/** An entry of the log of an issue or pull request. */
export interface EventRecord {
  id: number;
  issueNumber: number;
  event: LoggedEvent;
  label: { name: string; color: string } | null;
  rename: { from: string; to: string } | null;
  /**
   * Removal from the merge queue: the reason, the head that was in it, and the commit that was tested, if one was made.
   */
  removal?: { reason: string; headSha: string; groupSha: string | null };
  actor: string;
  createdAt: string;
}

export type LabelRecord = { id: number; name: string; color: string; description: string | null };

export interface ReviewRecord {
  id: number;
  pullNumber: number;
  author: string;
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED';
  body: string;
  comments: { path: string; line: number; body: string }[];
  commitSha: string;
  submittedAt: string;
}

export interface StatusRecord {
  id: number;
  sha: string;
  context: string;
  state: 'error' | 'failure' | 'pending' | 'success';
  description: string | null;
  targetUrl: string | null;
  author: string;
  /** The app that set it; null and absent = a user. */
  appId?: number | null;
  createdAt: string;
}

export interface CheckRecord {
  id: number;
  suiteId?: number;
  sha: string;
  name: string;
  status: 'queued' | 'in_progress' | 'completed';
  conclusion: string | null;
  startedAt: string;
  completedAt: string | null;
  detailsUrl?: string | null;
  externalId?: string;
  output?: { title: string | null; summary: string | null; text: string | null };
  /** Output of its job; only for jobs of the host itself. */
  log?: string;
}

/** The check runs of one app on one commit. */
export interface SuiteRecord {
  id: number;
  sha: string;
  branch: string | null;
  /** null = the host's own CI. */
  appId: number | null;
  createdAt: string;
  updatedAt: string;
}

/** A change of a branch. */
export interface ActivityRecord {
  id: number;
  ref: string;
  before: string;
  after: string;
  type: 'push' | 'force_push' | 'branch_creation' | 'branch_deletion';
  actor: string;
  at: string;
}

/** A context that must be green, set by one app; null = by any account. */
export interface RequiredCheck {
  context: string;
  appId: number | null;
}

/** Classic protection of one branch. */
export interface ProtectionRecord {
  id: number;
  branch: string;
  checks: RequiredCheck[] | null;
  strict: boolean;
  /** null = no pull request is required. */
  reviews: { count: number; dismissStale: boolean } | null;
  linear: boolean;
  /** Logins that may push; null = every user with write access. */
  pushers: string[] | null;
  forcePushes: boolean;
  deletions: boolean;
  enforceAdmins: boolean;
}

/** A ruleset of branches; its rules have the form of the REST API. */
export interface RulesetRecord {
  id: number;
  name: string;
  enforcement: 'active' | 'disabled' | 'evaluate';
  include: string[];
  exclude: string[];
  rules: { type: string; parameters?: Record<string, unknown> }[];
  createdAt: string;
}

export interface HookRecord {
  id: number;
  url: string;
  secret: string;
  /** The app that it belongs to: it gets only the events of that app's installations; absent = every event. */
  appId?: number;
}

export interface DeliveryRecord {
  id: number;
  hookId: number;
  guid: string;
  event: string;
  /** The exact bytes that are signed and sent, on a repetition too. */
  body: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  outcome: string | null;
  createdAt: string;
}

/** A pull request in the merge queue of its base branch; the lowest id is merged first. */
export interface QueueEntryRecord {
  id: number;
  pullNumber: number;
  /** The head that was queued; another one ends the entry. */
  headSha: string;
  by: string;
  /** The commit that is tested in place of the base branch; null = not made yet. */
  group: { baseSha: string; sha: string; ref: string } | null;
  createdAt: string;
}

/** Repository id of records that belong to no repository. */
export const GLOBAL = 0;

/** The records, in one file. `state.ts` implements it. */
export interface Store {
  get<K extends Kind>(kind: K, repo: number, id: number): Records[K] | undefined;
  /** All records of a kind in the order of their ids; with `parent` those of one issue. */
  list<K extends Kind>(kind: K, repo: number, parent?: number): Records[K][];
  countOpen(kind: 'issue', repo: number): number;
  put<K extends Kind>(kind: K, repo: number, record: Records[K], key?: { id?: number; parent?: number }): void;
  remove(kind: Kind, repo: number, id: number): void;
  /** Ids are unique over all kinds and never used again. */
  nextId(): number;
  /** All of `work` or nothing. A transaction inside another one is part of it. */
  transaction<T>(work: () => T): T;
  /** Finds a user by login, ignoring case. */
  findUser(login: string): UserRecord | undefined;
}

/** An update of a branch that is refused: any push, a push that is no fast-forward, a merge commit, a deletion. */
export type PushRule = { branch: string; kind: 'push' | 'force' | 'linear' | 'delete'; words: string };

/** git on the repositories of the host. `git/git.ts` implements it. */
export interface HostGit {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  dir(repo: { id: number }): string;
  refusing(rules: readonly PushRule[], refusesWorkflows: boolean): Record<string, string>;
  /** Standard output without its last line break. */
  run(cwd: string, args: string[], env?: Record<string, string>): Promise<string>;
  /** The commit of a branch or any revision; null when there is none. */
  resolve(cwd: string, revision: string): Promise<string | null>;
  contains(cwd: string, commit: string, ancestor: string): Promise<boolean>;
}

export type SandboxLog = { info(message: string): void; warn(message: string): void };

/** The outgoing webhooks. `webhooks/deliveries.ts` implements it. */
export interface Webhooks {
  /** Stores one delivery per hook, inside the transaction of the change. */
  emit(event: string, payload: object, only?: number): void;
  /** Starts sending pending deliveries, unless delivery is manual. */
  kick(): void;
  flush(): Promise<void>;
  redeliver(id: number): boolean;
}

/** Work of the host in the background: its own CI (`checks/ci.ts`), and the merge queues (`queue/merge-queue.ts`). */
export interface Runner {
  /** Starts what is to be done in a repository now. */
  consider(repo: Pick<RepoRecord, 'id'>): void;
}

/** Parts of the sandbox host that its routes work with. */
export interface Sandbox {
  state: Store;
  git: HostGit;
  now: () => Date;
  /** Root of every link in an answer, without a slash at its end. */
  url: () => string;
  deliveries: Webhooks;
  ci: Runner;
  queue: Runner;
  log: SandboxLog;
  /** Requests an hour and token; the next one answers 403. */
  rateLimitPerHour: number;
  writesPerMinute: number;
  /** Runs git-changing work of one repository one after the other. */
  lock: <T>(repoId: number, work: () => Promise<T>) => Promise<T>;
}
