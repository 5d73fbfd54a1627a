import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useMemo } from 'react';
import { lazily } from '../shared/lazily.ts';
import { type Column, parseOrder } from './column.ts';

const collator = lazily(() => new Intl.Collator('en', { numeric: true, sensitivity: 'base' }));

interface Sorted {
  getValue(column: string): unknown;
}

/** Numbers by size, texts by the alphabet. */
function byValue(a: Sorted, b: Sorted, column: string): number {
  const [first, second] = [a.getValue(column), b.getValue(column)];
  if (typeof first === 'number' && typeof second === 'number') return first - second;
  return collator().compare(String(first), String(second));
}

const features = tableFeatures({
  rowSortingFeature,
  columnVisibilityFeature,
  sortedRowModel: createSortedRowModel(),
});

interface SortedOptions<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  /** As in the address: `cost` or `-cost`; empty = the order of the rows. */
  order: string;
  /** Width of the table in pixels, which decides what columns are shown. */
  width: number;
}

/** Returns the rows in the chosen order, and the columns for which there is room. */
export function useSorted<Row extends object>({ rows, columns, order, width }: SortedOptions<Row>) {
  const definitions = useMemo(
    () =>
      columns.map(({ id, sort }) => ({
        id,
        accessorFn: (row: Row) => sort?.(row) ?? undefined,
        sortFn: byValue,
        sortUndefined: 'last' as const,
        enableSorting: sort !== undefined,
      })),
    [columns],
  );
  const sorting = useMemo(() => {
    const parsed = parseOrder(order);
    return parsed ? [{ id: parsed.column, desc: parsed.descending }] : [];
  }, [order]);
  const columnVisibility = useMemo(
    () => Object.fromEntries(columns.map(({ id, from = 0 }) => [id, width === 0 ? from === 0 : width >= from])),
    [columns, width],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: rows as Row[],
    state: { sorting, columnVisibility },
  });
  // Both are the same objects until rows, order or width change: a table is rendered at every step of its scrolling.
  const { rows: model } = table.getRowModel();
  const leaves = table.getVisibleLeafColumns();
  const sorted = useMemo(() => model.map(({ original }) => original), [model]);
  const shown = useMemo(() => columns.filter(({ id }) => leaves.some((leaf) => leaf.id === id)), [columns, leaves]);
  return { sorted, columns: shown };
}
