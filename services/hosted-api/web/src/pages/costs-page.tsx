import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { formatSum } from '@pipeline/web/format/money.ts';
import { formatCount } from '@pipeline/web/format/number.ts';
import { CostFacts } from '@pipeline/web/page/cost-facts.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Panel } from '@pipeline/web/page/panel.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../api/request.ts';
import { usePlace } from '../api/use-place.ts';
import { pollMs } from '../live/poll.ts';

/** Page of what the agents of the organisation cost. */
export default function CostsPage() {
  const { org } = usePlace();
  const query = useQuery(read('browserCosts', { query: { org: org?.slug ?? '' } }, pollMs));
  const costs = query.data;
  return (
    <Page title="Costs">
      <div className={layout.stack}>
        <Panel title="Reported by agents" query={query} height={60}>
          {() => costs && <CostFacts costs={costs} today="Since 00:00 UTC" />}
        </Panel>
        <Panel title="By repository" query={query} height={160}>
          {() =>
            costs && (
              <FiguresTable
                caption="Cost by repository in USD"
                head={['Repository', '24 hours', '7 days', '30 days', 'All time']}
                rows={costs.byRepo.map((each) => [
                  each.repo,
                  formatSum(each.last24hUsd, each.last24hUnreportedCosts),
                  formatSum(each.last7dUsd, each.last7dUnreportedCosts),
                  formatSum(each.last30dUsd, each.last30dUnreportedCosts),
                  formatSum(each.lifetimeUsd, each.lifetimeUnreportedCosts),
                ])}
              />
            )
          }
        </Panel>
        <Panel title="By agent" query={query} height={120}>
          {() =>
            costs &&
            (costs.byAgent.length === 0 ? (
              <EmptyNote title="No agent has reported a cost yet." />
            ) : (
              <FiguresTable
                caption="Cost by agent in USD, all time"
                head={['Agent', 'Invocations', 'Cost']}
                rows={costs.byAgent.map(({ agent, usd, invocations, unreportedCosts }) => [
                  agent,
                  formatCount(invocations),
                  formatSum(usd, unreportedCosts),
                ])}
              />
            ))
          }
        </Panel>
      </div>
    </Page>
  );
}
