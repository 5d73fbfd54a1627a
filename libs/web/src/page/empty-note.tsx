import type { ReactNode } from 'react';
import styles from './empty-note.module.css';

interface EmptyNoteProps {
  /** `good` = there is nothing to do. */
  tone?: 'plain' | 'good';
  title: string;
  children?: ReactNode;
}

/** Note where a list has no rows, with what can be done about it. */
export function EmptyNote({ tone = 'plain', title, children }: EmptyNoteProps) {
  return (
    <div className={styles.note}>
      <p className={tone === 'good' ? styles.good : styles.title}>{title}</p>
      {children}
    </div>
  );
}
