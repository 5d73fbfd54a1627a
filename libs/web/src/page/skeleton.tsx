import { useEffect, useState } from 'react';
import { after } from '../timing/timers.ts';
import styles from './skeleton.module.css';

/** A faster answer replaces nothing, so nothing flickers. */
const SHOWN_AFTER_MS = 200;

/** The place of content that is being read, in its final height. */
export function Skeleton({ height }: { height: number }) {
  const [shown, setShown] = useState(false);
  useEffect(() => after(SHOWN_AFTER_MS, () => setShown(true)), []);
  return (
    <div className={shown ? styles.shown : undefined} style={{ height }}>
      <span className={styles.unseen} role="status">
        {shown ? 'Loading' : ''}
      </span>
    </div>
  );
}
