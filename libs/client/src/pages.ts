interface Answer {
  items: unknown[];
  /** Page of a list by offset. */
  page?: { offset: number; hasMore: boolean };
  /** Next cursor of a list by cursor; null = the last page. */
  next?: string | null;
}

type Query = Record<string, unknown>;

/**
 * Reads a list to its end, one page at a time, and yields its items. A list by offset may repeat or miss an item that
 * moves between two pages; one by cursor does not.
 */
export async function* allItems(read: (query: Query) => Promise<unknown>, query: Query): AsyncGenerator<unknown> {
  for (let at: Query | null = {}; at !== null; ) {
    const answer = (await read({ ...query, ...at })) as Answer;
    yield* answer.items;
    at = nextPage(answer);
  }
}

function nextPage({ items, page, next }: Answer): Query | null {
  if (next) return { after: next };
  return page?.hasMore && items.length > 0 ? { offset: page.offset + items.length } : null;
}
