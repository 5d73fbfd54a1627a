import type { UseQueryResult } from '@tanstack/react-query';

/** State of a query that a panel shows: its age, its error, and how to reload it. */
export type Loaded = Pick<
  UseQueryResult<unknown>,
  'dataUpdatedAt' | 'error' | 'isFetching' | 'isPending' | 'refetch' | 'data'
>;
