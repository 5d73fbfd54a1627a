import { type Column, parseOrder } from './column.ts';
import { compareTexts, textKey } from './text-keys.ts';

interface Entry<Row> {
  row: Row;
  value: string | number;
  /** Of a text; undefined = it has none. */
  key: string | undefined;
}

/** Numbers by size, texts by the alphabet. */
function compare(a: Entry<unknown>, b: Entry<unknown>): number {
  if (a.key !== undefined && b.key !== undefined) return a.key < b.key ? -1 : Number(a.key > b.key);
  if (typeof a.value === 'number' && typeof b.value === 'number') return a.value - b.value;
  return compareTexts(String(a.value), String(b.value));
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
    else entries.push({ row, value, key: typeof value === 'string' ? textKey(value) : undefined });
  }
  entries.sort(parsed.descending ? (a, b) => compare(b, a) : compare);
  return [...entries.map(({ row }) => row), ...last];
}
