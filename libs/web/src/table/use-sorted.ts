import { useMemo } from 'react';
import type { Column } from './column.ts';
import { sortRows } from './sort-rows.ts';

interface SortedOptions<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  /** Order as in the address: `cost` or `-cost`; empty = the order of the rows. */
  order: string;
  /** Width of the table in pixels, which decides what columns are shown. */
  width: number;
}

/**
 * Returns the rows in the chosen order, and the columns for which there is room. Both are the same objects until rows, order
 * or width change: a table is rendered at every step of its scrolling.
 */
export function useSorted<Row>({ rows, columns, order, width }: SortedOptions<Row>) {
  const sorted = useMemo(() => sortRows(rows, columns, order), [rows, columns, order]);
  const shown = useMemo(
    () => columns.filter(({ from = 0 }) => (width === 0 ? from === 0 : width >= from)),
    [columns, width],
  );
  return { sorted, columns: shown };
}
