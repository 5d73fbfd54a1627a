import { useMemo, useRef } from 'react';

interface FrozenOrderOptions<Row> {
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  frozen: boolean;
  /** Another value replaces a frozen order: the reader has chosen it. */
  order: string;
}

/**
 * Returns the rows in the order of the last time that `frozen` was false; new rows come last. Rows that jump away
 * under the pointer or out of a selection lead to wrong clicks.
 */
export function useFrozenOrder<Row>({ rows, keyOf, frozen, order }: FrozenOrderOptions<Row>): readonly Row[] {
  const kept = useRef({ rows, order });
  if (!frozen || kept.current.order !== order) kept.current = { rows, order };
  const { rows: ordered } = kept.current;
  return useMemo(
    () => (rows === ordered ? rows : inOrder(rows, keyOf, new Map(ordered.map((row, at) => [keyOf(row), at])))),
    [rows, ordered, keyOf],
  );
}

/** Returns the rows by their position in `order`; rows without one keep their own order at the end. */
export function inOrder<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  order: ReadonlyMap<string, number>,
): readonly Row[] {
  const positionOf = (row: Row): number => order.get(keyOf(row)) ?? Number.MAX_SAFE_INTEGER;
  return rows.toSorted((a, b) => positionOf(a) - positionOf(b));
}
