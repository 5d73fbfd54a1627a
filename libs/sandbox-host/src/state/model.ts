/** What the sandbox host keeps. Logins refer to users, label names to labels of the same repository. */
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
  hook: HookRecord;
  delivery: DeliveryRecord;
  app: AppRecord;
  installation: InstallationRecord;
  grant: Grant;
  counter: { id: number; last: number };
}
export type Kind = keyof Records;

export type Role = 'admin' | 'write' | 'triage' | 'read';

export interface UserRecord {
  id: number;
  login: string;
  token: string;
  type: 'User' | 'Bot';
  createdAt: string;
}

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
  createdAt: string;
  pushedAt: string;
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
  /** Where the head branch lives, and whose that is; absent = the repository itself. */
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
  /** The commit that a merge under way is about to put on the base branch; settles a crash between git and here. */
  merging: { sha: string; by: string } | null;
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

/** An entry of the log of an issue or pull request. */
export interface EventRecord {
  id: number;
  issueNumber: number;
  event: 'labeled' | 'unlabeled' | 'closed' | 'reopened' | 'renamed';
  label: { name: string; color: string } | null;
  rename: { from: string; to: string } | null;
  actor: string;
  createdAt: string;
}

export interface LabelRecord {
  id: number;
  name: string;
  color: string;
  description: string | null;
}

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
  createdAt: string;
}

export interface CheckRecord {
  id: number;
  sha: string;
  name: string;
  status: 'queued' | 'in_progress' | 'completed';
  conclusion: string | null;
  startedAt: string;
  completedAt: string | null;
}

export interface HookRecord {
  id: number;
  url: string;
  secret: string;
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

/** An app that acts for repos of those who installed it. */
export interface AppRecord {
  id: number;
  slug: string;
  publicKey: string;
  createdAt: string;
}

export interface InstallationRecord {
  id: number;
  appId: number;
  owner: string;
  createdAt: string;
}

/** What a token of an installation may do. */
export interface Grant {
  id: number;
  appId: number;
  owner: string;
  tokenHash: string;
  /** null = every repo of the owner. */
  repoIds: number[] | null;
  permissions: Partial<Record<'contents' | 'issues' | 'metadata' | 'pull_requests' | 'statuses', 'read' | 'write'>>;
  expiresAt: string;
}
