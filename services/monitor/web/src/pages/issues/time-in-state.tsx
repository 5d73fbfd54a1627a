import { When } from '@pipeline/web/components/when.tsx';
import { formatMinutes } from '@pipeline/web/format/duration.ts';
import { useNow } from '@pipeline/web/timing/use-now.ts';
import type { Issue } from '../../api/types.ts';
import styles from './issues.module.css';

const EVERY_MS = 10_000;
const MINUTE_MS = 60_000;

/** Time in the current state, above a bar of its share of the limit of the state; no bar without a limit. */
export function TimeInState({ issue: { stateEnteredAt, slaMinutes } }: { issue: Issue }) {
  const now = useNow(EVERY_MS);
  if (stateEnteredAt === null || slaMinutes === null) return <When at={stateEnteredAt} as="since" />;
  const share = (now - Date.parse(stateEnteredAt)) / (slaMinutes * MINUTE_MS);
  const limit = formatMinutes(slaMinutes);
  return (
    <span className={styles.since} title={share > 1 ? `over the limit of ${limit}` : `limit of ${limit}`}>
      <When at={stateEnteredAt} as="since" />
      <meter
        className={styles.limit}
        aria-label={`share of the limit of ${limit}`}
        value={Math.min(1, share)}
        data-over={share > 1 || undefined}
      />
    </span>
  );
}
