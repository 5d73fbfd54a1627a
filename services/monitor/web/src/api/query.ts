import { type QueryKey, queryOptions } from '@tanstack/react-query';
import { type CallableId, request } from './request.ts';
import type { Input, Reply } from './types.ts';

/** Key of all cached responses of a route, or of those with this input. */
export const keyOf = <Id extends CallableId>(id: Id, input?: Input<Id>): QueryKey =>
  input === undefined ? [id] : [id, input];

/**
 * Query options of a GET route. The stream updates the cache, so nothing is fetched again by itself.
 * @param pollMs for lists that the stream does not cover.
 */
export const read = <Id extends CallableId>(id: Id, input: Input<Id>, pollMs?: number) =>
  queryOptions<Reply<Id>, Error, Reply<Id>, QueryKey>({
    queryKey: keyOf(id, input),
    queryFn: ({ signal }) => request(id, input, signal),
    ...(pollMs !== undefined && { refetchInterval: pollMs }),
  });
