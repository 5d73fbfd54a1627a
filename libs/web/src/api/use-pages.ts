import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useAllPages } from './use-all-pages.ts';

interface PageOf<Item> {
  items: readonly Item[];
  page: { total: number | null; limit: number; offset: number; hasMore: boolean };
}

interface PagesOptions<Item> {
  /** Key as `keyOf` returns it. */
  key: QueryKey;
  load: (offset: number, signal: AbortSignal) => Promise<PageOf<Item>>;
  /** Rows that moved between the reads of two pages are in both, and are shown once. */
  idOf: (item: Item) => string;
  pollMs?: number | false | (() => number);
  enabled?: boolean;
  /** Reads all pages: the list is sorted by a column. Default: only the pages that `loadMore` asks for. */
  isWhole?: boolean;
}

/** Reads a list in pages. Every read again covers all loaded pages. */
export function usePages<Item>({
  key,
  load,
  idOf,
  pollMs = false,
  enabled = true,
  isWhole = false,
}: PagesOptions<Item>) {
  const query = useInfiniteQuery({
    queryKey: [...key, 'pages'],
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: 0,
    getNextPageParam: ({ page }) => (page.hasMore ? page.offset + page.limit : undefined),
    refetchInterval: pollMs,
    enabled,
  });
  useAllPages(query, isWhole);
  const items = useMemo(() => {
    const all = query.data?.pages.flatMap((page) => page.items) ?? [];
    return [...new Map(all.map((item) => [idOf(item), item])).values()];
  }, [query.data, idOf]);
  const canLoad = query.hasNextPage && !query.isFetchingNextPage;
  return {
    query,
    items,
    total: query.data?.pages[0]?.page.total ?? null,
    loadMore: canLoad ? () => void query.fetchNextPage() : undefined,
  };
}
