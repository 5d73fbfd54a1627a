/** An assistant has to read what it gets: more than this does not help. */
const MAX_OCTETS = 64 * 1024;
export const MAX_ITEMS = 100;

const octetsOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

interface Page {
  total: number | null;
  limit: number;
  offset: number;
  hasMore: boolean;
}

/** Counts the items that fit beside `others` octets; one at least, or no page would ever end. */
function fitting(items: readonly unknown[], others: number): number {
  let octets = others;
  const over = items.findIndex((item) => {
    octets += octetsOf(item) + 1;
    return octets > MAX_OCTETS;
  });
  return over === -1 ? items.length : Math.max(1, over);
}

/** A page as a tool gives it: the REST body, cut to what fits, and where the next page begins if there is one. */
export function fitPage<T>({ items, page }: { items: T[]; page: Page }) {
  const kept = items.slice(0, fitting(items, octetsOf(page) + 100));
  const hasMore = page.hasMore || kept.length < items.length;
  return {
    items: kept,
    page: { ...page, limit: kept.length < items.length ? kept.length : page.limit, hasMore },
    ...(hasMore && { nextOffset: page.offset + kept.length }),
  };
}

/** A list inside of a body, cut to the page that fits. @returns the list, and where its next page begins. */
export function fitList<T>(list: readonly T[], body: object, { offset, limit }: { offset: number; limit: number }) {
  const wanted = list.slice(offset, offset + limit);
  const kept = wanted.slice(0, fitting(wanted, octetsOf(body)));
  const next = offset + kept.length;
  return { kept, ...(next < list.length && { nextOffset: next }) };
}

/** A body whose lists are halved, the longest first, until it fits. @returns also whether anything was cut. */
export function fitLists<B extends object>(body: B, keys: readonly (keyof B)[]): { body: B; cut: boolean } {
  let fitted = body;
  while (octetsOf(fitted) > MAX_OCTETS) {
    const lengthOf = (key: keyof B) => (fitted[key] as unknown[]).length;
    const longest = keys.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a));
    if (lengthOf(longest) === 0) break;
    fitted = { ...fitted, [longest]: (fitted[longest] as unknown[]).slice(0, lengthOf(longest) >> 1) };
  }
  return { body: fitted, cut: fitted !== body };
}
