import type { UseQueryResult } from '@tanstack/react-query';

/** What a panel shows of a query: its age, its error, and how to reload it. */
export type Loaded = Pick<
  UseQueryResult<unknown>,
  'dataUpdatedAt' | 'error' | 'isFetching' | 'isPending' | 'refetch' | 'data'
>;
