import { isFailure } from '@pipeline/web/api/failure.ts';
import { queryClient } from '@pipeline/web/api/query-client.ts';
import { useSyncExternalStore } from 'react';

const cache = queryClient.getQueryCache();
const subscribe = (listener: () => void): (() => void) => cache.subscribe(listener);
const isOffline = (): boolean =>
  cache.findAll({ type: 'active' }).some(({ state }) => isFailure(state.error, 'STORE_UNAVAILABLE'));

/** Returns whether the latest read of any panel on the page failed because the database is not available. */
export const useStoreOffline = (): boolean => useSyncExternalStore(subscribe, isOffline);
