import { branchOf, HOUR_MS, SECOND_MS } from '@pipeline/domain';
import type { NewRow } from './insert-rows.ts';
import { iso, record, type Story, type StoryRepo } from './story.ts';

type PullRequest = NewRow<'pull_requests'>;

const AGENT = 'pipeline-bot';

function newPullRequest(
  repo: StoryRepo,
  made: { at: number; title: string; headRef: string; author: string },
): PullRequest {
  repo.lastNumber += 1;
  const number = repo.lastNumber;
  return {
    tenant_id: repo.tenantId,
    repo_id: repo.id,
    issue_id: null,
    number,
    title: made.title,
    body: '',
    url: `http://127.0.0.1/${repo.owner}/${repo.name}/pull/${number}`,
    head_ref: made.headRef,
    head_sha: number.toString(16).padStart(40, '0'),
    base_ref: 'main',
    state: 'open',
    merged: false,
    merged_at: null,
    merge_sha: null,
    author: made.author,
    agent_authored: made.author === AGENT,
    changed_files: ['src/index.ts', `src/part-${number % 20}.ts`],
    opened_at: iso(made.at),
    closed_at: null,
    reverted_by: null,
    updated_at: iso(made.at),
  };
}

/** The work is submitted: its pull request is opened a moment later. @returns when, for then its review begins. */
export function openPullRequest(story: Story, submittedAt: number): number {
  if (story.pr) return submittedAt;
  const { draw, repo, number, rows, end } = story;
  const at = submittedAt + draw.around(8 * SECOND_MS);
  if (at >= end) return at;
  // Now and then a person has worked on the branch, and the pull request is theirs.
  const author = draw.chance(0.06) ? draw.pick(['ann', 'ben']) : AGENT;
  story.pr = newPullRequest(repo, { at, title: `Issue ${number}`, headRef: branchOf(number), author });
  Object.assign(story.pr, { issue_id: story.issueId, body: `Refs #${number}` });
  rows.pull_requests.push(story.pr);
  record(story, at, { type: 'pr_opened', agent: 'developer', payload: { prNumber: story.pr.number } });
  return at;
}

/** The issue is done by a merge. Where it has no pull request of its own, the one of a person was merged. */
export function mergePullRequest(story: Story, doneAt: number, by: 'merger' | 'operator'): void {
  const { draw, repo, number, rows } = story;
  const pr =
    story.pr ??
    newPullRequest(repo, { at: doneAt - HOUR_MS, title: `By hand, ${number}`, headRef: 'fix', author: 'ann' });
  if (!story.pr) {
    Object.assign(pr, { issue_id: story.issueId, body: `Fixes #${number}` });
    rows.pull_requests.push(pr);
  }
  merge(pr, doneAt);
  story.pr = null;
  record(story, doneAt, { type: 'pr_merged', agent: by, payload: { prNumber: pr.number } });
  if (draw.chance(0.04)) alsoByHand(story, doneAt);
  if (draw.chance(0.04)) revert(story, pr, doneAt + draw.around(5 * HOUR_MS));
}

function merge(pr: PullRequest, at: number): void {
  const sha = `${pr.number.toString(16).padStart(39, '0')}f`;
  Object.assign(pr, {
    state: 'closed',
    merged: true,
    merged_at: iso(at),
    merge_sha: sha,
    closed_at: iso(at),
    updated_at: iso(at),
  });
}

/** A person helped with a pull request of their own. */
function alsoByHand({ repo, rows, issueId, number }: Story, doneAt: number): void {
  const pr = newPullRequest(repo, {
    at: doneAt - HOUR_MS,
    title: `Help with ${number}`,
    headRef: 'help',
    author: 'ben',
  });
  Object.assign(pr, { issue_id: issueId, body: `Fixes #${number}` });
  merge(pr, doneAt - HOUR_MS / 2);
  rows.pull_requests.push(pr);
}

function revert(story: Story, reverted: PullRequest, at: number): void {
  const { draw, repo, rows, end } = story;
  if (at + HOUR_MS >= end) return;
  const pr = newPullRequest(repo, {
    at,
    title: `Revert "${reverted.title}"`,
    headRef: `revert-${reverted.number}`,
    author: 'ann',
  });
  pr.body = draw.chance(0.5)
    ? `Reverts ${repo.owner}/${repo.name}#${reverted.number}`
    : `This reverts commit ${reverted.merge_sha}.`;
  if (draw.chance(0.8)) {
    merge(pr, at + HOUR_MS / 2);
    reverted.reverted_by = pr.number;
    record(story, at + HOUR_MS / 2, { type: 'pr_reverted', agent: 'operator', payload: { prNumber: reverted.number } });
  }
  rows.pull_requests.push(pr);
}

/** Closed without a merge. */
export function closePullRequest(story: Story, at: number): void {
  if (!story.pr) return;
  Object.assign(story.pr, { state: 'closed', closed_at: iso(at), updated_at: iso(at) });
  story.pr = null;
}

/** Work of people that no issue is behind. */
export function strayPullRequest(
  { draw, end, rows }: Pick<Story, 'draw' | 'end' | 'rows'>,
  repo: StoryRepo,
  at: number,
): void {
  const pr = newPullRequest(repo, { at, title: 'By hand', headRef: 'by-hand', author: 'ben' });
  const mergedAt = at + draw.around(20 * HOUR_MS);
  if (mergedAt < end && draw.chance(0.8)) merge(pr, mergedAt);
  rows.pull_requests.push(pr);
}
