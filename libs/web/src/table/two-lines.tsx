import type { ReactNode } from 'react';
import styles from './two-lines.module.css';

interface TwoLinesProps {
  first: ReactNode;
  second: ReactNode;
}

/** Cell of two lines with the values of several columns: for tables on phones. The last part of a line is cut. */
export function TwoLines({ first, second }: TwoLinesProps) {
  return (
    <span className={styles.lines}>
      <span className={styles.line}>{first}</span>
      <span className={`${styles.line} ${styles.second}`}>{second}</span>
    </span>
  );
}
