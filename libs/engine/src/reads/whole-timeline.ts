import { AppError } from '@pipeline/domain';
import { operatorScope, type Store } from '@pipeline/store';
import { findRepoAt, type IssueAddress } from '../address.ts';
import type { Engine } from '../context.ts';
import { type Timeline, timelineOf } from './timeline.ts';

export interface WholeTimeline extends Timeline {
  totalEntries: number;
  /** For how long nothing has happened to it, in milliseconds; absent while it is done or something happens. */
  staleSinceMs?: number;
}

/** More of a story than anybody reads, and less than a process cannot bear. */
const MAX_ENTRIES = 5_000;

/**
 * The whole story of an issue, oldest first; of a very long one the newest part.
 * @throws AppError STORE_UNAVAILABLE for a repo that is not served, INVALID_INPUT when the tenant must be named,
 * ISSUE_NOT_FOUND.
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

/** What the contract answers where there is nothing to tell the story from. */
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
 * For how long nothing has happened to an issue, in milliseconds; null while it is done, or while that is shorter than
 * a worker may be without progress.
 */
export function stalenessOf({ currentState, entries, serverTimestamp }: Timeline, stallMs: number): number | null {
  const last = entries.at(-1);
  if (currentState === 'done' || !last) return null;
  const quietMs = Date.parse(serverTimestamp) - Date.parse(last.timestamp);
  return quietMs >= stallMs ? quietMs : null;
}
