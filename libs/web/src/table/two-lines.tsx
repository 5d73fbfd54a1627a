import type { ReactNode } from 'react';
import styles from './two-lines.module.css';

interface TwoLinesProps {
  first: ReactNode;
  second: ReactNode;
}

/** What the columns of a row show, in one cell of two lines: for tables on phones. The last part of a line is cut. */
export function TwoLines({ first, second }: TwoLinesProps) {
  return (
    <span className={styles.lines}>
      <span className={styles.line}>{first}</span>
      <span className={`${styles.line} ${styles.second}`}>{second}</span>
    </span>
  );
}
