import { type QueryKey, queryOptions } from '@tanstack/react-query';
import { type CallableId, request } from './request.ts';
import type { Input, Reply } from './types.ts';

/** Key of all cached responses of a route, or of those with this input. */
export const keyOf = <Id extends CallableId>(id: Id, input?: Input<Id>): QueryKey =>
  input === undefined ? [id] : [id, input];

/** A timer may end so much early. */
const EARLY_MS = 100;

/**
 * Returns the milliseconds until the next poll. All polls of one interval fall on the same moments of the page, so that their
 * responses share a layout and a paint; the moments are those of its load, so that browsers do not all ask at one time.
 * @param age of the page, in milliseconds.
 */
export function untilPoll(pollMs: number, age: number): number {
  const rest = pollMs - (age % pollMs);
  return rest > EARLY_MS ? rest : rest + pollMs;
}

/**
 * Query options of a GET route. The stream updates the cache, so nothing is fetched again by itself.
 * @param pollMs for lists that the stream does not cover.
 */
export const read = <Id extends CallableId>(id: Id, input: Input<Id>, pollMs?: number) =>
  queryOptions<Reply<Id>, Error, Reply<Id>, QueryKey>({
    queryKey: keyOf(id, input),
    queryFn: ({ signal }) => request(id, input, signal),
    ...(pollMs !== undefined && { refetchInterval: () => untilPoll(pollMs, performance.now()) }),
  });
