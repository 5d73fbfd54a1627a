import { useRef } from 'react';
import { inOrder } from './in-order.ts';

/**
 * Returns the rows in the order of the last time that `frozen` was false; new rows come last. Rows that jump away
 * under the pointer or out of a selection lead to wrong clicks.
 */
export function useFrozenOrder<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  frozen: boolean,
): readonly Row[] {
  const order = useRef<ReadonlyMap<string, number>>(new Map());
  if (!frozen) {
    order.current = new Map(rows.map((row, index) => [keyOf(row), index]));
    return rows;
  }
  return inOrder(rows, keyOf, order.current);
}
