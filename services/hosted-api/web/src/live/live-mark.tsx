import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { useEffect } from 'react';
import { followChanges, isLive } from './follow.ts';
import styles from './live-mark.module.css';

/** Follows the changes of an organisation, and shows whether the page is up to date or is read every 10 seconds. */
export function LiveMark({ org }: { org: string }) {
  const live = useSignal(isLive);
  useEffect(() => followChanges(org), [org]);
  return (
    <span className={styles.mark} data-live={live || undefined} role="status">
      {live ? 'Live' : 'Every 10 s'}
    </span>
  );
}
