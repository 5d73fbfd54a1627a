import type { HostComment, HostEvent, HostIssue, HostPullRequest, HostReview, RepoRef } from '@pipeline/domain';

/** A delivery as the host sends it: the name of its event, and its body. */
export interface Delivery {
  event: string;
  body: object;
}

const user = (login: string | null) => (login === null ? null : { login });

const issueBody = (issue: HostIssue) => ({
  number: issue.number,
  title: issue.title,
  body: issue.body,
  html_url: issue.url,
  state: issue.state,
  state_reason: issue.stateReason,
  labels: issue.labels.map((name) => ({ name })),
  user: user(issue.author),
  created_at: issue.createdAt,
  updated_at: issue.updatedAt,
  closed_at: issue.closedAt,
});

const pullBody = (pull: HostPullRequest) => ({
  number: pull.number,
  title: pull.title,
  body: pull.body,
  html_url: pull.url,
  state: pull.state,
  merged_at: pull.mergedAt,
  merge_commit_sha: pull.mergeCommitSha,
  head: { ref: pull.headRef, sha: pull.headSha, repo: pull.headRepo === null ? null : { full_name: pull.headRepo } },
  base: { ref: pull.baseRef },
  user: user(pull.author),
  draft: pull.draft,
  created_at: pull.createdAt,
  updated_at: pull.updatedAt,
});

const commentBody = (comment: HostComment) => ({
  id: comment.id,
  user: user(comment.author),
  body: comment.body,
  created_at: comment.createdAt,
  updated_at: comment.updatedAt,
});

const reviewBody = (review: HostReview) => ({
  id: review.id,
  user: user(review.author),
  state: review.verdict,
  body: review.body,
  submitted_at: review.submittedAt,
  commit_id: review.commitSha,
});

/** @param found issue of a comment. @throws Error for events that the host of the model does not send. */
export function deliveryOf(event: HostEvent, found: HostIssue | undefined): Delivery {
  const around = (repo: RepoRef) => ({
    repository: { name: repo.name, owner: { login: repo.owner } },
    sender: user(event.sender),
  });
  switch (event.kind) {
    case 'issue': {
      const { action, issue, label, repo } = event;
      const named = label === null ? {} : { label: { name: label } };
      const changes = event.changed && {
        changes: Object.fromEntries(event.changed.map((part) => [part, { from: '' }])),
      };
      return { event: 'issues', body: { action, issue: issueBody(issue), ...named, ...changes, ...around(repo) } };
    }
    case 'comment': {
      if (!found) throw new Error(`no issue #${event.issueNumber}`);
      const about = { issue: issueBody(found), comment: commentBody(event.comment) };
      return { event: 'issue_comment', body: { action: 'created', ...about, ...around(event.repo) } };
    }
    case 'pull-request': {
      const action = event.action === 'merged' ? 'closed' : event.action;
      return {
        event: 'pull_request',
        body: { action, pull_request: pullBody(event.pullRequest), ...around(event.repo) },
      };
    }
    case 'review': {
      const about = { review: reviewBody(event.review), pull_request: { number: event.prNumber } };
      const action = event.review.verdict === 'dismissed' ? 'dismissed' : 'submitted';
      return { event: 'pull_request_review', body: { action, ...about, ...around(event.repo) } };
    }
    default:
      throw new Error(`the host of the model sends no ${event.kind}`);
  }
}
