import { association } from '../access/roles.ts';
import type { PullIssue, RepoRecord, ReviewRecord, Sandbox } from '../state/model.ts';
import { headRepoOf } from '../state/sandbox.ts';
import { apiUrl, headLabel, htmlUrl, nodeId, renderLabels, renderRepo, renderUser } from './basics.ts';

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
    auto_merge: pull.autoMerge
      ? {
          enabled_by: renderUser(sandbox, pull.autoMerge.by),
          merge_method: pull.autoMerge.method,
          commit_title: null,
          commit_message: null,
        }
      : null,
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
