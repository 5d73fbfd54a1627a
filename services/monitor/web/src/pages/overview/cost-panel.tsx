import { formatHourMinute, zoneName } from '@pipeline/web/format/time.ts';
import { CostFacts } from '@pipeline/web/page/cost-facts.tsx';
import { preferences } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { useQuery } from '@tanstack/react-query';
import { Panel } from '../../page/panel.tsx';
import styles from './overview.module.css';
import { type OfRepo, overviewReads } from './overview-reads.ts';

/** Costs that the agents reported. */
export function CostPanel({ repo }: OfRepo) {
  const query = useQuery(overviewReads(repo).costs);
  const { zone } = useSignal(preferences);
  const costs = query.data;
  const midnight = new Date().setUTCHours(0, 0, 0, 0);
  const name = zoneName(zone, midnight);
  const here = name === 'UTC' ? '' : ` (${formatHourMinute(midnight, zone)} ${name})`;
  return (
    <Panel
      title="Cost reported by agents"
      metrics={['cost_today', 'cost', 'unreported_costs']}
      query={query}
      height={90}
    >
      {() =>
        costs && (
          <>
            <CostFacts costs={costs} today="Today" />
            <p className={styles.muted}>
              Today is since 00:00 UTC{here}.
              {costs.lifetimeUnreportedCosts > 0 &&
                ' Unreported: invocations with neither a cost nor tokens with a price; budgets do not see them.'}
            </p>
          </>
        )
      }
    </Panel>
  );
}
