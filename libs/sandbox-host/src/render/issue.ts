import { association } from '../access/roles.ts';
import type { CommentRecord, EventRecord, IssueRecord, RepoRecord, Sandbox } from '../state/model.ts';
import { apiUrl, htmlUrl, nodeId, renderLabels, renderUser } from './basics.ts';

const REACTIONS = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'eyes', 'rocket'] as const;

/** GitHub's `issue`; a pull request seen as an issue carries `pull_request`. */
export function renderIssue(sandbox: Sandbox, repo: RepoRecord, issue: IssueRecord) {
  const api = apiUrl(sandbox, repo);
  const url = `${api}/issues/${issue.number}`;
  const assignees = issue.assignees.map((login) => renderUser(sandbox, login));
  const children = sandbox.state.list('issue', repo.id, issue.number);
  const completed = children.filter((child) => child.state === 'closed').length;
  return {
    url,
    repository_url: api,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: `${htmlUrl(sandbox, repo)}/${issue.pull ? 'pull' : 'issues'}/${issue.number}`,
    id: issue.id,
    node_id: nodeId('Issue', issue.id),
    number: issue.number,
    title: issue.title,
    user: renderUser(sandbox, issue.author),
    labels: renderLabels(sandbox, repo, issue),
    state: issue.state,
    state_reason: issue.stateReason,
    locked: false,
    assignee: assignees[0] ?? null,
    assignees,
    milestone: null,
    comments: issue.comments,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    closed_by: issue.closedBy === null ? null : renderUser(sandbox, issue.closedBy),
    author_association: association(repo, issue.author),
    active_lock_reason: null,
    body: issue.body,
    reactions: renderReactions(`${url}/reactions`, []),
    timeline_url: `${url}/timeline`,
    sub_issues_summary: {
      total: children.length,
      completed,
      percent_completed: children.length === 0 ? 0 : Math.floor((100 * completed) / children.length),
    },
    ...(issue.pull ? { draft: issue.pull.draft, pull_request: pullLinks(sandbox, repo, issue) } : {}),
  };
}

function pullLinks(sandbox: Sandbox, repo: RepoRecord, issue: IssueRecord) {
  const html = `${htmlUrl(sandbox, repo)}/pull/${issue.number}`;
  return {
    url: `${apiUrl(sandbox, repo)}/pulls/${issue.number}`,
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    merged_at: issue.pull?.mergedAt ?? null,
  };
}

/** GitHub's `issue-comment`. */
export function renderComment(sandbox: Sandbox, repo: RepoRecord, comment: CommentRecord) {
  const url = `${apiUrl(sandbox, repo)}/issues/comments/${comment.id}`;
  return {
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    url,
    html_url: `${htmlUrl(sandbox, repo)}/issues/${comment.issueNumber}#issuecomment-${comment.id}`,
    issue_url: `${apiUrl(sandbox, repo)}/issues/${comment.issueNumber}`,
    user: renderUser(sandbox, comment.author),
    body: comment.body,
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    author_association: association(repo, comment.author),
    reactions: renderReactions(`${url}/reactions`, comment.reactions),
  };
}

/** GitHub's `issue-event`. */
export function renderEvent(sandbox: Sandbox, repo: RepoRecord, entry: EventRecord) {
  return {
    id: entry.id,
    node_id: nodeId('IssueEvent', entry.id),
    url: `${apiUrl(sandbox, repo)}/issues/events/${entry.id}`,
    actor: renderUser(sandbox, entry.actor),
    event: entry.event,
    commit_id: null,
    commit_url: null,
    created_at: entry.createdAt,
    ...(entry.label && { label: entry.label }),
    ...(entry.rename && { rename: entry.rename }),
    performed_via_github_app: null,
  };
}

function renderReactions(url: string, reactions: { content: string }[]) {
  const count = (content: string) => reactions.filter((reaction) => reaction.content === content).length;
  return { url, total_count: reactions.length, ...Object.fromEntries(REACTIONS.map((name) => [name, count(name)])) };
}
