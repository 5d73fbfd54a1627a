import type { RestEndpointMethodTypes } from '@octokit/rest';
import {
  cappedText,
  type HostComment,
  type HostIssue,
  type HostPullRequest,
  type HostRepo,
  type HostReview,
  MAX_HOST_BODY,
  MAX_HOST_LINE,
} from '@pipeline/domain';

/** Most labels of an issue; the host allows as many. */
const MAX_LABELS = 100;
/** Most assignees of an issue; the host allows as many. */
const MAX_ASSIGNEES = 10;

// Deliveries may be large, whatever the host's own limits are: what is kept and read of them is bounded here.
const bodyOf = (text: string | null | undefined): string => cappedText(text ?? '', MAX_HOST_BODY);
const lineOf = (text: string): string => cappedText(text, MAX_HOST_LINE);

interface UserFields {
  login: string;
  type?: string | null | undefined;
}

/** The fields that are read of each resource. REST answers and webhook payloads both have them. */
interface IssueFields {
  number: number;
  title: string;
  body?: string | null | undefined;
  html_url: string;
  state: string;
  state_reason?: string | null | undefined;
  labels: (string | { name?: string | null })[];
  assignees?: (UserFields | null)[] | null | undefined;
  user: { login: string } | null;
  created_at: string;
  updated_at: string;
  closed_at: string | null;
}

interface CommentFields {
  id: number;
  user: { login: string } | null;
  body?: string | null | undefined;
  created_at: string;
  updated_at: string;
}

interface PullFields {
  number: number;
  title: string;
  body?: string | null | undefined;
  html_url: string;
  state: string;
  merged_at: string | null;
  merge_commit_sha: string | null;
  head: { ref: string; sha: string; repo?: { id?: number | undefined; full_name: string } | null | undefined };
  base: { ref: string };
  user: { login: string } | null;
  draft?: boolean | undefined;
  created_at: string;
  updated_at: string;
}

interface ReviewFields {
  id: number;
  user: { login: string } | null;
  state: string;
  body?: string | null | undefined;
  submitted_at?: string | null | undefined;
  commit_id: string | null;
}

type RepoData = RestEndpointMethodTypes['repos']['get']['response']['data'];

export const toRepo = (data: RepoData): HostRepo => ({
  id: data.id,
  owner: data.owner.login,
  name: data.name,
  archived: data.archived,
  defaultBranch: data.default_branch,
  cloneUrl: data.clone_url,
  private: data.private,
});

export const toIssue = (data: IssueFields): HostIssue => ({
  number: data.number,
  title: lineOf(data.title),
  body: bodyOf(data.body),
  url: data.html_url,
  state: data.state === 'closed' ? 'closed' : 'open',
  stateReason: stateReason(data.state_reason),
  labels: data.labels
    .slice(0, MAX_LABELS)
    .flatMap((label) => (typeof label === 'string' ? label : (label.name ?? [])))
    .map(lineOf),
  ...(data.assignees && { assignees: peopleAmong(data.assignees) }),
  author: data.user?.login ?? null,
  createdAt: data.created_at,
  updatedAt: data.updated_at,
  closedAt: data.closed_at,
});

const peopleAmong = (users: readonly (UserFields | null)[]): string[] =>
  users.slice(0, MAX_ASSIGNEES).flatMap((user) => (user === null || user.type === 'Bot' ? [] : lineOf(user.login)));

/** The host also has `duplicate`, which is one way of not being planned. */
function stateReason(value: string | null | undefined): HostIssue['stateReason'] {
  if (value === 'duplicate') return 'not_planned';
  return value === 'completed' || value === 'not_planned' || value === 'reopened' ? value : null;
}

export const toComment = (data: CommentFields): HostComment => ({
  id: data.id,
  author: data.user?.login ?? null,
  body: bodyOf(data.body),
  createdAt: data.created_at,
  updatedAt: data.updated_at,
});

export const toPullRequest = (data: PullFields): HostPullRequest => ({
  number: data.number,
  title: lineOf(data.title),
  body: bodyOf(data.body),
  url: data.html_url,
  state: data.state === 'closed' ? 'closed' : 'open',
  merged: data.merged_at !== null,
  mergedAt: data.merged_at,
  // Before the merge the host shows the sha of a trial merge here.
  mergeCommitSha: data.merged_at === null ? null : data.merge_commit_sha,
  headRepo: data.head.repo?.full_name ?? null,
  ...(data.head.repo?.id !== undefined && { headRepoId: data.head.repo.id }),
  headRef: lineOf(data.head.ref),
  headSha: data.head.sha,
  baseRef: lineOf(data.base.ref),
  author: data.user?.login ?? null,
  draft: data.draft ?? false,
  createdAt: data.created_at,
  updatedAt: data.updated_at,
});

const VERDICTS: Record<string, HostReview['verdict']> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  COMMENTED: 'commented',
  DISMISSED: 'dismissed',
  PENDING: 'pending',
};

export const toReview = (data: ReviewFields): HostReview => ({
  id: data.id,
  author: data.user?.login ?? null,
  verdict: VERDICTS[data.state.toUpperCase()] ?? 'commented',
  body: bodyOf(data.body),
  submittedAt: data.submitted_at ?? null,
  commitSha: data.commit_id,
});
