import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { HostComment, HostIssue, HostPullRequest, HostRepo, HostReview } from '@pipeline/domain';

type Issues = RestEndpointMethodTypes['issues'];
type Pulls = RestEndpointMethodTypes['pulls'];
export type IssueData = Issues['get']['response']['data'];
type CommentData = Issues['listComments']['response']['data'][number];
type PullData = Pulls['get']['response']['data'] | Pulls['list']['response']['data'][number];
type ReviewData = Pulls['listReviews']['response']['data'][number];
type RepoData = RestEndpointMethodTypes['repos']['get']['response']['data'];

export const toRepo = (data: RepoData): HostRepo => ({
  owner: data.owner.login,
  name: data.name,
  defaultBranch: data.default_branch,
  cloneUrl: data.clone_url,
  private: data.private,
});

export const toIssue = (data: IssueData): HostIssue => ({
  number: data.number,
  title: data.title,
  body: data.body ?? '',
  url: data.html_url,
  state: data.state === 'closed' ? 'closed' : 'open',
  stateReason: stateReason(data.state_reason),
  labels: data.labels.flatMap((label) => (typeof label === 'string' ? label : (label.name ?? []))),
  author: data.user?.login ?? null,
  createdAt: data.created_at,
  updatedAt: data.updated_at,
  closedAt: data.closed_at,
});

/** The host also knows `duplicate`, which is one way of not being planned. */
function stateReason(value: string | null | undefined): HostIssue['stateReason'] {
  if (value === 'duplicate') return 'not_planned';
  return value === 'completed' || value === 'not_planned' || value === 'reopened' ? value : null;
}

export const toComment = (data: CommentData): HostComment => ({
  id: data.id,
  author: data.user?.login ?? null,
  body: data.body ?? '',
  createdAt: data.created_at,
  updatedAt: data.updated_at,
});

export const toPullRequest = (data: PullData): HostPullRequest => ({
  number: data.number,
  title: data.title,
  body: data.body ?? '',
  url: data.html_url,
  state: data.state === 'closed' ? 'closed' : 'open',
  merged: data.merged_at !== null,
  mergedAt: data.merged_at,
  // Before the merge the host shows the sha of a trial merge here.
  mergeCommitSha: data.merged_at === null ? null : data.merge_commit_sha,
  headRef: data.head.ref,
  headSha: data.head.sha,
  baseRef: data.base.ref,
  author: data.user?.login ?? null,
  draft: data.draft ?? false,
  createdAt: data.created_at,
});

const VERDICTS: Record<string, HostReview['verdict']> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  COMMENTED: 'commented',
  DISMISSED: 'dismissed',
  PENDING: 'pending',
};

export const toReview = (data: ReviewData): HostReview => ({
  id: data.id,
  author: data.user?.login ?? null,
  verdict: VERDICTS[data.state.toUpperCase()] ?? 'commented',
  body: data.body,
  submittedAt: data.submitted_at ?? null,
  commitSha: data.commit_id,
});
