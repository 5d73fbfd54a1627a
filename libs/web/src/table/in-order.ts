/** Returns the rows by their position in `order`; rows without one keep their own order at the end. */
export function inOrder<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  order: ReadonlyMap<string, number>,
): readonly Row[] {
  const positionOf = (row: Row): number => order.get(keyOf(row)) ?? Number.MAX_SAFE_INTEGER;
  return rows.toSorted((a, b) => positionOf(a) - positionOf(b));
}
