import { useSyncExternalStore } from 'react';
import { isFailure } from './failure.ts';
import { queryClient } from './query-client.ts';

const cache = queryClient.getQueryCache();
const subscribe = (listener: () => void): (() => void) => cache.subscribe(listener);
const isOffline = (): boolean =>
  cache.findAll({ type: 'active' }).some(({ state }) => isFailure(state.error, 'STORE_UNAVAILABLE'));

/** Returns whether the latest read of any panel on the page failed because the database is not available. */
export const useStoreOffline = (): boolean => useSyncExternalStore(subscribe, isOffline);
