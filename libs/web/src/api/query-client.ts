import { QueryClient } from '@tanstack/react-query';
import { ApiFailure } from './failure.ts';

/** Reads are repeated once, and only when the monitor did not respond; an error response is shown at once. */
const shouldRetry = (failures: number, error: Error): boolean =>
  failures < 1 && error instanceof ApiFailure && error.status === 0;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: shouldRetry,
      retryDelay: 500,
      staleTime: 15_000,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      // The browser's idea of being online does not apply to a monitor on the same machine.
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
