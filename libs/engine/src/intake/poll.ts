import { ENQUEUE_LABEL, type HostIssue } from '@pipeline/domain';
import { findIssue, findPullRequest, oldestHostUpdate, saveSyncState, storeNow, syncStateOf } from '@pipeline/store';
import { inFencedTransaction } from '../context/context.ts';
import type { Intake } from '../repos/repo-address.ts';
import { applyHostEvent } from './host-event.ts';
import { applyIssueEvent } from './issue-event.ts';
import { applyPullRequestEvent } from './pull-request-event.ts';

/**
 * Changes this much older than the newest known one are read again: the host's times have a resolution of one second.
 */
const OVERLAP_MS = 2_000;

/**
 * Reads and applies changes on the host since the last poll, comments and pull requests included. The first poll of a
 * repo is its back-fill: all open issues with an intake request. An unchanged repo costs one conditional request, a
 * changed issue one for its comments in each poll until the cursor has passed it, which is two polls as a rule, and a changed
 * pull request of its own three. The cursor moves only when everything before it was applied.
 * @returns how many issues were read.
 */
export async function pollRepo(intake: Intake, now: () => Date): Promise<number> {
  const { engine, repo, host } = intake;
  const db = engine.store.db;
  const sync = await syncStateOf(db, repo.tenant_id, repo.id);
  const since = sync.cursor;
  const startedAt = new Date(now().getTime() - OVERLAP_MS).toISOString();
  const begin = since ?? (await firstCursor(intake, startedAt));
  const readAt = await storeNow(db);
  const answer = await host.listIssues(
    repo,
    since === null
      ? { state: 'open', labels: [ENQUEUE_LABEL] }
      : { state: 'all', since, ...(sync.etag !== null && { etag: sync.etag }) },
  );
  if (answer === null) return 0;
  const later: Changed[] = [];
  for (const issue of answer.issues) {
    if ((await applyPolledIssue(intake, issue, { since, readAt })) === 'later') later.push(issue);
  }
  for (const changed of answer.changedPullRequests) {
    if ((await applyPolledPullRequest(intake, changed.number, since)) === 'later') later.push(changed);
  }
  const cursor = since === null ? begin : cursorAfter([...answer.issues, ...answer.changedPullRequests], later, since);
  const etag = cursor === since && later.length === 0 ? answer.etag : null;
  await inFencedTransaction(engine, (tx) => saveSyncState(tx, repo.tenant_id, repo.id, { etag, cursor, error: null }));
  return answer.issues.length;
}

/**
 * A back-fill reads open issues only. Issues that webhooks had admitted before may have been changed without a delivery,
 * done ones included, so the next poll begins at the oldest last change of them. Cost: the issues of the repo, once.
 */
async function firstCursor({ engine, repo }: Intake, startedAt: string): Promise<string> {
  const oldest = await oldestHostUpdate(engine.store.db, repo.tenant_id, repo.id);
  if (oldest === null) return startedAt;
  return new Date(Math.min(Date.parse(startedAt), Date.parse(oldest) - OVERLAP_MS)).toISOString();
}

type Changed = Pick<HostIssue, 'number' | 'updatedAt'>;

/**
 * Never moves back: re-reading an overlap leaves the cursor, and so the etag, unchanged. Nor does it pass an issue that
 * must be read again. Pull requests count too: else each is read again by every poll until an issue changes.
 */
function cursorAfter(changed: readonly Changed[], later: readonly Changed[], since: string): string {
  const before = ({ updatedAt }: Changed) => Date.parse(updatedAt) - OVERLAP_MS;
  const newest = Math.max(...changed.map(before));
  return new Date(Math.max(Math.min(newest, ...later.map(before)), Date.parse(since))).toISOString();
}

async function applyPolledIssue(
  intake: Intake,
  issue: HostIssue,
  { since, readAt }: { since: string | null; readAt: string },
): Promise<'applied' | 'later'> {
  const { engine, repo } = intake;
  const before = await findIssue(engine.store.db, repo.tenant_id, repo.id, issue.number);
  const seen = { kind: 'issue', action: 'seen', repo, issue, sender: null, label: null, readAt } as const;
  const taken = await applyIssueEvent(intake, seen);
  // Whether the comments were read is not on record: a webhook may have stored the time of the issue, the poll that did
  // may have failed afterwards, and a comment may be of the second of an earlier read. Each is handled once.
  if (before) await applyComments(intake, { number: issue.number, author: issue.author, onPullRequest: false }, since);
  return taken;
}

interface Talk {
  /** Number of the issue or pull request. */
  number: number;
  author: string | null;
  onPullRequest: boolean;
}

async function applyComments(intake: Intake, { number, author, onPullRequest }: Talk, since: string | null) {
  const { repo, host } = intake;
  for (const comment of await host.listComments(repo, number, since ?? undefined)) {
    const place = { issueNumber: number, onPullRequest, issueAuthor: author };
    await applyHostEvent(intake, { kind: 'comment', repo, ...place, comment, sender: comment.author });
  }
}

async function applyPolledPullRequest(
  intake: Intake,
  number: number,
  since: string | null,
): Promise<'applied' | 'later'> {
  const { engine, repo, host } = intake;
  const known = await findPullRequest(engine.store.db, repo.tenant_id, repo.id, number);
  if (known?.merged) return 'applied';
  const readAt = await storeNow(engine.store.db);
  const pullRequest = await host.getPullRequest(repo, number);
  if (!pullRequest) return 'applied';
  const seen = { kind: 'pull-request', action: 'seen', repo, pullRequest, sender: null, readAt } as const;
  const taken = await applyPullRequestEvent(intake, seen);
  // Comments and reviews on pull requests that are not the pipeline's own move nothing.
  if (!known?.agent_authored || pullRequest.state === 'closed') return taken;
  await applyComments(intake, { number, author: pullRequest.author, onPullRequest: true }, since);
  for (const review of await host.listReviews(repo, number)) {
    await applyHostEvent(intake, { kind: 'review', repo, prNumber: number, review, sender: review.author });
  }
  return taken;
}
