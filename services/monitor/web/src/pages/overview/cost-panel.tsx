import { UNKNOWN } from '@pipeline/web/format/duration.ts';
import { formatUsd, UNREPORTED } from '@pipeline/web/format/money.ts';
import { formatCount } from '@pipeline/web/format/number.ts';
import { formatHourMinute, zoneName } from '@pipeline/web/format/time.ts';
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
            <dl className={styles.facts}>
              <Fact name="Today" usd={costs.todayUsd} unreported={costs.todayUnreportedCosts} />
              <Fact name="24 hours" usd={costs.last24hUsd} unreported={costs.last24hUnreportedCosts} />
              <Fact name="7 days" usd={costs.last7dUsd} unreported={costs.last7dUnreportedCosts} />
              <Fact name="30 days" usd={costs.last30dUsd} unreported={costs.last30dUnreportedCosts} />
              <Fact name="All time" usd={costs.lifetimeUsd} unreported={costs.lifetimeUnreportedCosts} />
            </dl>
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

function Fact({ name, usd, unreported }: { name: string; usd: number; unreported: number }) {
  const isUnknown = usd === 0 && unreported > 0;
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>
        {isUnknown ? UNKNOWN : formatUsd(usd)}
        {unreported > 0 && (
          <span className={styles.rest}>
            {!isUnknown && '+ '}
            {formatCount(unreported)} {UNREPORTED}
          </span>
        )}
      </dd>
    </div>
  );
}
