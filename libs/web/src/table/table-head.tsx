import { memo, type ReactNode } from 'react';
import { Glyph } from '../glyphs/glyph.tsx';
import { type Column, parseOrder } from './column.ts';
import styles from './data-table.module.css';

interface TableHeadProps<Row> {
  columns: readonly Column<Row>[];
  template: string;
  order: string;
  hasSelection: boolean;
  onSort?: (column: string) => void;
}

/** The row of headers; those of sortable columns are buttons. */
export const TableHead = memo(function TableHead<Row>(props: TableHeadProps<Row>) {
  const { columns, template, order, hasSelection, onSort } = props;
  return (
    // biome-ignore lint/a11y: rows are placed by script, see DataTable.
    <div role="row" aria-rowindex={1} className={styles.head} style={{ gridTemplateColumns: template }}>
      {hasSelection && (
        // biome-ignore lint/a11y: rows are placed by script, see DataTable.
        <span role="columnheader" className={styles.cell}>
          <span className={styles.unseen}>Selected</span>
        </span>
      )}
      {columns.map((column) => (
        <HeaderCell key={column.id} column={column} order={order} onSort={column.sort && onSort} />
      ))}
    </div>
  );
}) as <Row>(props: TableHeadProps<Row>) => ReactNode;

interface HeaderCellProps<Row> {
  column: Column<Row>;
  order: string;
  onSort?: (column: string) => void;
}

function HeaderCell<Row>({ column: { id, header, align }, order, onSort }: HeaderCellProps<Row>) {
  const sorted = parseOrder(order);
  const direction = sorted?.column !== id ? 'none' : sorted.descending ? 'descending' : 'ascending';
  return (
    // biome-ignore lint/a11y: rows are placed by script, see DataTable.
    <span
      role="columnheader"
      aria-sort={onSort && direction}
      className={`${styles.cell} ${align === 'end' ? styles.end : ''}`}
    >
      {onSort ? (
        <button type="button" className={styles.sort} onClick={() => onSort(id)}>
          {header}
          {direction !== 'none' && <Glyph name={direction === 'descending' ? 'down' : 'up'} size={10} />}
        </button>
      ) : (
        header
      )}
    </span>
  );
}
