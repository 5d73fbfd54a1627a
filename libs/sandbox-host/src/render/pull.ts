import { missingApprovals } from '../access/protection.ts';
import { mergeTree } from '../git/merge.ts';
import type { Sandbox } from '../state/context.ts';
import { headLabel, headRepoOf } from '../state/head-repo.ts';
import type { PullIssue, RepoRecord, ReviewRecord } from '../state/model.ts';
import { association, renderLabels } from './issue.ts';
import { apiUrl, htmlUrl, renderRepo } from './repo.ts';
import { nodeId, renderUser } from './user.ts';

/** GitHub's `pull-request-simple`: what lists and webhooks show. */
export function renderPull(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue) {
  const { pull } = issue;
  const links = linksOf(sandbox, repo, issue);
  const assignees = issue.assignees.map((login) => renderUser(sandbox, login));
  const headRepo = headRepoOf(sandbox, repo, pull);
  return {
    ...links.fields,
    id: issue.id,
    node_id: nodeId('PullRequest', issue.id),
    number: issue.number,
    state: issue.state,
    locked: false,
    title: issue.title,
    user: renderUser(sandbox, issue.author),
    body: issue.body,
    labels: renderLabels(sandbox, repo, issue),
    milestone: null,
    active_lock_reason: null,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    merged_at: pull.mergedAt,
    merge_commit_sha: pull.mergeSha,
    assignee: assignees[0] ?? null,
    assignees,
    requested_reviewers: pull.requestedReviewers.map((login) => renderUser(sandbox, login)),
    requested_teams: [],
    head: {
      label: headLabel(repo, pull),
      ref: pull.headRef,
      sha: pull.headSha,
      user: renderUser(sandbox, pull.headOwner ?? repo.owner),
      repo: headRepo && renderRepo(sandbox, headRepo),
    },
    base: {
      label: `${repo.owner}:${pull.baseRef}`,
      ref: pull.baseRef,
      sha: pull.baseSha,
      user: renderUser(sandbox, repo.owner),
      repo: renderRepo(sandbox, repo),
    },
    _links: links.hal,
    author_association: association(repo, issue.author),
    auto_merge: null,
    draft: pull.draft,
  };
}

function linksOf(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue) {
  const api = apiUrl(sandbox, repo);
  const self = `${api}/pulls/${issue.number}`;
  const html = `${htmlUrl(sandbox, repo)}/pull/${issue.number}`;
  const fields = {
    url: self,
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: `${api}/issues/${issue.number}`,
    commits_url: `${self}/commits`,
    review_comments_url: `${self}/comments`,
    review_comment_url: `${api}/pulls/comments{/number}`,
    comments_url: `${api}/issues/${issue.number}/comments`,
    statuses_url: `${api}/statuses/${issue.pull.headSha}`,
  };
  const hal = {
    self: { href: self },
    html: { href: html },
    issue: { href: fields.issue_url },
    comments: { href: fields.comments_url },
    review_comments: { href: fields.review_comments_url },
    review_comment: { href: fields.review_comment_url },
    commits: { href: fields.commits_url },
    statuses: { href: fields.statuses_url },
  };
  return { fields, hal };
}

/** GitHub's `pull-request`: with what only git can tell. Costs four git processes. */
export async function renderFullPull(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue) {
  const { git } = sandbox;
  const { pull } = issue;
  const dir = git.dir(repo);
  const base = pull.mergedAt ? pull.baseSha : ((await git.resolve(dir, pull.baseRef)) ?? pull.baseSha);
  const [stat, commits] = await Promise.all([
    git.run(dir, ['diff', '--numstat', '--no-renames', `${base}...${pull.headSha}`]),
    git.run(dir, ['rev-list', '--count', `${base}..${pull.headSha}`]),
  ]);
  const lines = stat.split('\n').filter(Boolean);
  const sum = (column: number) => lines.reduce((all, line) => all + (Number(line.split('\t')[column]) || 0), 0);
  const standing = await mergeability(sandbox, repo, { ...issue, pull: { ...pull, baseSha: base } });
  return {
    ...renderPull(sandbox, repo, issue),
    ...standing,
    merged: pull.mergedAt !== null,
    merged_by: pull.mergedBy === null ? null : renderUser(sandbox, pull.mergedBy),
    rebaseable: standing.mergeable,
    comments: issue.comments,
    review_comments: sandbox.state.list('review', repo.id, issue.number).flatMap((review) => review.comments).length,
    maintainer_can_modify: false,
    commits: Number(commits),
    additions: sum(0),
    deletions: sum(1),
    changed_files: lines.length,
  };
}

async function mergeability(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue) {
  const { pull } = issue;
  if (issue.state === 'closed') return { mergeable: null, mergeable_state: 'unknown' };
  const tree = await mergeTree(sandbox.git, sandbox.git.dir(repo), pull.baseSha, pull.headSha);
  if (tree === null) return { mergeable: false, mergeable_state: 'dirty' };
  if (pull.draft) return { mergeable: true, mergeable_state: 'draft' };
  const blocked = missingApprovals(sandbox, repo, issue) > 0;
  return { mergeable: true, mergeable_state: blocked ? 'blocked' : 'clean' };
}

/** GitHub's `pull-request-review`. */
export function renderReview(sandbox: Sandbox, repo: RepoRecord, review: ReviewRecord) {
  const pull = `${apiUrl(sandbox, repo)}/pulls/${review.pullNumber}`;
  const html = `${htmlUrl(sandbox, repo)}/pull/${review.pullNumber}#pullrequestreview-${review.id}`;
  return {
    id: review.id,
    node_id: nodeId('PullRequestReview', review.id),
    user: renderUser(sandbox, review.author),
    body: review.body,
    state: review.state,
    html_url: html,
    pull_request_url: pull,
    _links: { html: { href: html }, pull_request: { href: pull } },
    submitted_at: review.submittedAt,
    commit_id: review.commitSha,
    author_association: association(repo, review.author),
  };
}
