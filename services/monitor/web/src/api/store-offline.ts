import { isFailure } from '@pipeline/web/api/failure.ts';
import { queryClient } from '@pipeline/web/api/query-client.ts';
import { createSignal } from '@pipeline/web/shared/signal.ts';

const cache = queryClient.getQueryCache();
const isOffline = (): boolean =>
  cache.findAll({ type: 'active' }).some(({ state }) => isFailure(state.error, 'STORE_UNAVAILABLE'));

/** True = the latest read of any panel on the page failed because the database is not available. */
export const storeOffline = createSignal(false);

const CHANGES: readonly string[] = ['updated', 'removed', 'observerAdded', 'observerRemoved'];

// One subscriber for all panels: the cache reports several events for every query that is rendered.
cache.subscribe(({ type }) => {
  if (CHANGES.includes(type)) storeOffline.set(isOffline());
});
