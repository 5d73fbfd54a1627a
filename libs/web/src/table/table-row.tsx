import { type MouseEvent, memo, type ReactNode } from 'react';
import type { Column } from './column.ts';
import styles from './data-table.module.css';

interface TableRowProps<Row> {
  id: string;
  name: string;
  row: Row;
  index: number;
  columns: readonly Column<Row>[];
  template: string;
  top: number;
  height: number;
  look: 'muted' | 'indented' | undefined;
  isActive: boolean;
  isSelected?: boolean;
  onPress: (name: string, event: MouseEvent) => void;
  onSelect?: (name: string, shift: boolean) => void;
}

/** A row at its place in the scrolled height. Scrolling renders the rows that come into view, not those in view. */
export const TableRow = memo(function TableRow<Row>(props: TableRowProps<Row>) {
  const { id, name, row, index, columns, template, top, height, look, isActive, isSelected, onPress, onSelect } = props;
  return (
    // biome-ignore lint/a11y: the grid itself handles the keys of its rows.
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={styles.row}
      data-active={isActive || undefined}
      data-look={look}
      style={{ gridTemplateColumns: template, height, transform: `translateY(${top}px)` }}
      onClick={(event) => onPress(name, event)}
    >
      {onSelect && (
        // biome-ignore lint/a11y: rows are placed by script, see DataTable.
        <span role="gridcell" className={styles.cell}>
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label="Selected"
            checked={isSelected === true}
            onClick={(event) => {
              event.stopPropagation();
              onSelect(name, event.shiftKey);
            }}
            onChange={() => undefined}
          />
        </span>
      )}
      {columns.map((column) => (
        // biome-ignore lint/a11y: rows are placed by script, see DataTable.
        <span key={column.id} role="gridcell" className={`${styles.cell} ${column.align === 'end' ? styles.end : ''}`}>
          <Cell content={column.cell(row)} />
        </span>
      ))}
    </div>
  );
}) as <Row>(props: TableRowProps<Row> & { key: unknown }) => ReactNode;

/** A text that does not fit ends with an ellipsis, and is whole in its tip. */
const Cell = ({ content }: { content: ReactNode }): ReactNode =>
  typeof content === 'string' && content !== '' ? <span title={content}>{content}</span> : content;
