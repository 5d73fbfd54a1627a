import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { lazily } from '../shared/lazily.ts';
import { useStableCallback } from '../shared/use-stable-callback.ts';
import { useWidth } from '../shared/use-width.ts';
import { type Column, nextOrder } from './column.ts';
import styles from './data-table.module.css';
import { useFrozenOrder } from './frozen-order.ts';
import { TableHead } from './table-head.tsx';
import { TableRow } from './table-row.tsx';
import { useRowKeys } from './use-row-keys.ts';
import type { Selection } from './use-selection.ts';
import { useSorted } from './use-sorted.ts';
import { scrollIdOf, useVirtualRows } from './use-virtual-rows.ts';

/** Tables that begin further down scroll with the page. */
const MOST_TOP_PX = 260;
const MARGIN_PX = 16;

export interface DataTableProps<Row extends object> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Order of the rows as in the address. */
  order?: string;
  onOrder?: (order: string) => void;
  onOpen?: (row: Row) => void;
  onPeek?: (row: Row) => void;
  selection?: Selection;
  /** `muted` rows are greyed, `indented` ones follow the row above. */
  look?: (row: Row) => 'muted' | 'indented' | undefined;
  /** Rows have two lines. */
  isTall?: boolean;
  /** Called when the end of the list comes into view. */
  onEnd?: () => void;
  /** Shown in place of the rows of an empty list. */
  empty: ReactNode;
}

/**
 * A table that renders only the rows in view. It is one tab stop: arrows or j and k move between rows, Enter opens,
 * o peeks, x selects, Shift x selects a range, * selects all.
 */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, keyOf, order = '', onOrder, selection, empty } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [isPointed, setPointed] = useState(false);
  const width = useTableSize(scroller);
  const { sorted, columns } = useSorted({ rows: props.rows, columns: props.columns, order, width });
  const rows = useFrozenOrder({ rows: sorted, keyOf, order, frozen: isPointed || (selection?.keys.size ?? 0) > 0 });
  const { keyAt, allKeys } = useKeys(rows, keyOf);
  const { virtual, placed, height } = useVirtualRows({ ...props, count: rows.length, keyAt, scroller, body });
  const keys = useRowKeys({ ...props, rows, allKeys, scrollTo: (index) => virtual.scrollToIndex(index) });
  const [onPress, onSelect] = [useStableCallback(keys.onPress), useStableCallback(keys.onSelect)];
  const onSort = useStableCallback((column: string) => onOrder?.(nextOrder(order, column)));
  const template = `${selection ? '28px ' : ''}${columns.map(({ width }) => width).join(' ')}`;
  if (rows.length === 0)
    return (
      <div ref={scroller} className={styles.table}>
        {empty}
      </div>
    );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot hold rows that are placed by script.
    <div
      ref={scroller}
      className={styles.table}
      data-scroll-restoration-id={scrollIdOf(label)}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-multiselectable={selection ? true : undefined}
      aria-activedescendant={placed.some(({ key }) => key === keys.active) ? `${id}-${keys.active}` : undefined}
      tabIndex={0}
      onFocus={(event) => event.target === event.currentTarget && keys.focus()}
      onKeyDown={(event: KeyboardEvent) => event.target === event.currentTarget && keys.onKeyDown(event)}
      onPointerEnter={() => setPointed(true)}
      onPointerLeave={() => setPointed(false)}
    >
      <TableHead
        columns={columns}
        template={template}
        order={order}
        hasSelection={selection !== undefined}
        onSort={onOrder && onSort}
      />
      {/* biome-ignore lint/a11y/useSemanticElements: see above. */}
      <div ref={body} role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize() }}>
        {placed.map(({ item: { index, start }, key, slot }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <TableRow
              key={slot}
              id={`${id}-${key}`}
              name={key}
              row={row}
              index={index}
              columns={columns}
              template={template}
              top={start}
              height={height}
              look={props.look?.(row)}
              isActive={keys.active === key}
              isSelected={selection?.keys.has(key)}
              onPress={onPress}
              onSelect={selection && onSelect}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Keys of rows: that at an index, and those of all rows, which are made when an action needs them: a list may have ten thousand. */
function useKeys<Row>(rows: readonly Row[], keyOf: (row: Row) => string) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key of a row is the same by every `keyOf` of a page.
  return useMemo(
    () => ({
      keyAt: (index: number): string => {
        const row = rows[index];
        return row === undefined ? '' : keyOf(row);
      },
      allKeys: lazily(() => rows.map(keyOf)),
    }),
    [rows],
  );
}

/** Lets a table that begins near the top of the page end at the bottom of the window. @returns its width in pixels. */
function useTableSize(table: RefObject<HTMLElement | null>): number {
  const width = useWidth(table);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is above the table wraps in another width.
  useLayoutEffect(() => {
    const node = table.current;
    if (!node) return;
    const top = node.getBoundingClientRect().top + window.scrollY;
    if (top <= MOST_TOP_PX) node.style.setProperty('--table-top', `${Math.round(top) + MARGIN_PX}px`);
  }, [table, width]);
  return width;
}
