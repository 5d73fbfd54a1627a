import { AppError } from '@pipeline/domain';
import { issueTimeline, operatorScope, type ReadScope, type Store, type TimelineRow } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { findRepoAt } from '../repos/repo-address.ts';
import { repoNotFound } from '../repos/repo-not-found.ts';
import type { IssueAddress } from './issue-address.ts';

type Found = NonNullable<TimelineRow['issue']>;

export interface Timeline extends Omit<Found, 'total'> {
  repo: string;
  serverTimestamp: string;
}

/**
 * A page of an issue's timeline, oldest first: one statement on `reads`.
 * @returns also the total number of entries.
 * @throws AppError REPO_NOT_FOUND, ISSUE_NOT_FOUND.
 */
export async function timelineOf(
  store: Store,
  scope: ReadScope,
  query: { slug: string; number: number; limit: number; offset: number },
): Promise<{ timeline: Timeline; total: number }> {
  const row = await issueTimeline(store.reads, scope, query);
  if (!row) throw repoNotFound();
  if (!row.issue) throw new AppError('ISSUE_NOT_FOUND', `Issue not found: ${row.repo}#${query.number}`);
  const { total, ...story } = row.issue;
  return { timeline: { repo: row.repo, ...story, serverTimestamp: row.now }, total };
}

interface WholeTimeline extends Timeline {
  totalEntries: number;
  /** Milliseconds since its last entry; absent while it is done or active. */
  staleSinceMs?: number;
}

/** More entries than a person reads, bounded for the memory of the process. */
const MAX_ENTRIES = 5_000;

/**
 * The complete timeline of an issue, oldest first; of a very long one the newest part.
 * @throws AppError STORE_UNAVAILABLE for an unknown repo, INVALID_INPUT when the tenant must be named, ISSUE_NOT_FOUND.
 */
export async function timelineAt(engine: Engine, address: IssueAddress): Promise<WholeTimeline> {
  const repo = await findRepoAt(engine, address).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'NOT_FOUND') throw noRepoContext(address);
    throw error;
  });
  const query = { slug: `${repo.owner}/${repo.name}`, number: address.number };
  const { timeline, total } = await newestOf(engine.store, operatorScope(repo), query);
  const staleSinceMs = stalenessOf(timeline, engine.settings().stallMs);
  return { ...timeline, totalEntries: total, ...(staleSinceMs !== null && { staleSinceMs }) };
}

/** The contract's response where there is no timeline to read. */
export const noRepoContext = ({ owner, repo }: Pick<IssueAddress, 'owner' | 'repo'>): AppError =>
  new AppError('STORE_UNAVAILABLE', `No repo context available for ${owner}/${repo}`);

async function newestOf(
  store: Store,
  scope: Parameters<typeof timelineOf>[1],
  query: { slug: string; number: number },
) {
  const first = await timelineOf(store, scope, { ...query, limit: MAX_ENTRIES, offset: 0 });
  if (first.total <= MAX_ENTRIES) return first;
  return timelineOf(store, scope, { ...query, limit: MAX_ENTRIES, offset: first.total - MAX_ENTRIES });
}

/**
 * Returns the milliseconds since the last entry of an issue; null while the issue is done or the last entry is newer
 * than the stall limit of workers.
 */
export function stalenessOf({ currentState, entries, serverTimestamp }: Timeline, stallMs: number): number | null {
  const last = entries.at(-1);
  if (currentState === 'done' || !last) return null;
  const quietMs = Date.parse(serverTimestamp) - Date.parse(last.timestamp);
  return quietMs >= stallMs ? quietMs : null;
}
