import type { ReactNode } from 'react';

/** A column of a data table. */
export interface Column<Row> {
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** Value by which rows are sorted; absent = the column cannot be sorted by. Null comes last. */
  sort?: (row: Row) => string | number | null;
  /** Track of the CSS grid, such as `90px` or `minmax(160px, 2fr)`. */
  width: string;
  align?: 'end';
  /** The column is left out in tables narrower than this many pixels. Default 0: always shown. */
  from?: number;
}

/** Order of rows: a column and its direction. Text form `cost` or `-cost`, as in addresses. */
export interface Order {
  column: string;
  descending: boolean;
}

export const parseOrder = (text: string): Order | null =>
  text === '' ? null : { column: text.replace(/^-/, ''), descending: text.startsWith('-') };

/** Returns the next order when a header is pressed: ascending, descending, the list's own. */
export function nextOrder(current: string, column: string): string {
  if (current === column) return `-${column}`;
  return current === `-${column}` ? '' : column;
}
