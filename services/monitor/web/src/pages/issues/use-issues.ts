import { useAllPages } from '@pipeline/web/api/use-all-pages.ts';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { keyOf } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Issue } from '../../api/types.ts';

export interface IssueFilter {
  repo?: string;
  state?: Issue['state'] | 'all' | 'blocked' | 'paused';
  flag?: 'blocked' | 'paused';
  q?: string;
}

const PAGE = 500;

/**
 * The issues of a filter, in pages; events of the stream change the rows in place.
 * @param isWhole reads all pages: the list is sorted by a column.
 */
export function useIssues(filter: IssueFilter, isWhole: boolean) {
  const input = { query: { ...filter, limit: PAGE } };
  const query = useInfiniteQuery({
    queryKey: [...keyOf('searchIssues', input), 'pages'],
    queryFn: ({ pageParam, signal }) =>
      request('searchIssues', { query: { ...filter, limit: PAGE, offset: pageParam } }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ page }) => (page.hasMore ? page.offset + page.limit : undefined),
    placeholderData: keepPreviousData,
  });
  useAllPages(query, isWhole);
  const issues = useMemo(() => distinct(query.data?.pages.flatMap(({ items }) => items) ?? []), [query.data]);
  /** Reads the pages that are missing, in order. @returns the issues of all pages. */
  const loadAll = async (): Promise<readonly Issue[]> => {
    let latest = await query.fetchNextPage();
    while (latest.hasNextPage && !latest.error) latest = await query.fetchNextPage();
    return distinct(latest.data?.pages.flatMap(({ items }) => items) ?? []);
  };
  const total = query.data?.pages[0]?.page.total ?? null;
  return { query, issues, total, loadAll, isReadingAll: isWhole && query.hasNextPage };
}

export const keyOfIssue = ({ repo, tenant, issueNumber }: Issue): string => `${tenant}/${repo}/${issueNumber}`;

/** Rows that moved between the reads of two pages are in both. */
function distinct(issues: readonly Issue[]): Issue[] {
  return [...new Map(issues.map((issue) => [keyOfIssue(issue), issue])).values()];
}
