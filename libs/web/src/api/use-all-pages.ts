import { useEffect } from 'react';

/** Properties of a list that is read in pages. */
interface PagedQuery {
  hasNextPage: boolean;
  isFetching: boolean;
  isError: boolean;
  fetchNextPage(options: { cancelRefetch: boolean }): Promise<unknown>;
}

/** Reads the pages of a list that are missing, one after another: the first row of a sorted list may be on any of them. */
export function useAllPages({ hasNextPage, isFetching, isError, fetchNextPage }: PagedQuery, isWanted: boolean): void {
  const isDue = isWanted && hasNextPage && !isFetching && !isError;
  useEffect(() => {
    // A read that something else began meanwhile goes on.
    if (isDue) void fetchNextPage({ cancelRefetch: false });
  }, [isDue, fetchNextPage]);
}
