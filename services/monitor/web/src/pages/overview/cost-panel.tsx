import { formatUsd } from '@pipeline/web/format/money.ts';
import { formatHourMinute, zoneName } from '@pipeline/web/format/time.ts';
import { preferences } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './overview.module.css';

/** What the agents reported to have spent. */
export function CostPanel({ query }: { query: UseQueryResult<Reply<'pipelineCostSummary'>> }) {
  const { zone } = useSignal(preferences);
  const costs = query.data;
  const midnight = new Date().setUTCHours(0, 0, 0, 0);
  const here = zone === 'utc' ? '' : ` (${formatHourMinute(midnight, zone)} ${zoneName(zone, midnight)})`;
  return (
    <Panel title="Cost reported by agents" metrics={['cost_today', 'cost']} query={query} height={90}>
      {() =>
        costs && (
          <>
            <dl className={styles.facts}>
              <Fact name="Today" value={costs.todayUsd} />
              <Fact name="24 hours" value={costs.last24hUsd} />
              <Fact name="7 days" value={costs.last7dUsd} />
              <Fact name="30 days" value={costs.last30dUsd} />
              <Fact name="All time" value={costs.lifetimeUsd} />
            </dl>
            <p className={styles.muted}>Today is since 00:00 UTC{here}.</p>
          </>
        )
      }
    </Panel>
  );
}

function Fact({ name, value }: { name: string; value: number }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{formatUsd(value)}</dd>
    </div>
  );
}
