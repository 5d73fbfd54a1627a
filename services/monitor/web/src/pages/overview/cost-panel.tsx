import { formatHourMinute, zoneName } from '@pipeline/web/format/time.ts';
import { CostFigure } from '@pipeline/web/page/cost-figure.tsx';
import { Facts } from '@pipeline/web/page/facts.tsx';
import { preferences } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { useQuery } from '@tanstack/react-query';
import { Panel } from '../../page/panel.tsx';
import styles from './overview.module.css';
import { type OfRepo, overviewReads } from './overview-reads.ts';

/** What the agents reported to have spent. */
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
            <Facts
              facts={[
                { name: 'Today', value: <CostFigure usd={costs.todayUsd} unreported={costs.todayUnreportedCosts} /> },
                {
                  name: '24 hours',
                  value: <CostFigure usd={costs.last24hUsd} unreported={costs.last24hUnreportedCosts} />,
                },
                {
                  name: '7 days',
                  value: <CostFigure usd={costs.last7dUsd} unreported={costs.last7dUnreportedCosts} />,
                },
                {
                  name: '30 days',
                  value: <CostFigure usd={costs.last30dUsd} unreported={costs.last30dUnreportedCosts} />,
                },
                {
                  name: 'All time',
                  value: <CostFigure usd={costs.lifetimeUsd} unreported={costs.lifetimeUnreportedCosts} />,
                },
              ]}
            />
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
