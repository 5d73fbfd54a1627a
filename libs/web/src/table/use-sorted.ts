import { useMemo } from 'react';
import { lazily } from '../shared/lazily.ts';
import { type Column, parseOrder } from './column.ts';

/** Collator that sorts by the alphabet, without case and accents; numbers in a text by size. */
const collator = lazily(() => new Intl.Collator('en', { numeric: true, sensitivity: 'base' }));

interface Entry<Row> {
  row: Row;
  value: string | number;
}

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

/** Numbers by size, texts by the alphabet. */
function compare({ value: a }: Entry<unknown>, { value: b }: Entry<unknown>): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return collator().compare(String(a), String(b));
}

/**
 * Returns the rows in an order as in addresses; rows of equal value keep theirs, those without a value come last.
 * An order by no column that can be sorted by, such as an empty one, is that of the rows.
 */
export function sortRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: string): readonly Row[] {
  const parsed = parseOrder(order);
  const sortValue = columns.find(({ id }) => id === parsed?.column)?.sort;
  if (parsed === null || sortValue === undefined) return rows;
  const entries: Entry<Row>[] = [];
  const last: Row[] = [];
  for (const row of rows) {
    const value = sortValue(row);
    if (value === null) last.push(row);
    else entries.push({ row, value });
  }
  entries.sort(parsed.descending ? (a, b) => compare(b, a) : compare);
  return [...entries.map(({ row }) => row), ...last];
}
