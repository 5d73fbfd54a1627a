import { onOff } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { Panel } from '../../page/panel.tsx';
import { KpiTable } from './kpi-table.tsx';
import { ReliabilityPanel } from './reliability-panel.tsx';

const FIELDS = { regressed: onOff() };
const POLL_MS = 60_000;

/** Page of the KPIs that are worse than their baseline. */
export default function RegressionsPage() {
  const { repo } = useRepo();
  const { values, set, rejected } = useAddress(FIELDS);
  const guard = useQuery(read('readRegressionGuard', {}, POLL_MS));
  const weekly = useQuery(read('weeklyReliability', { query: { ...(repo && { repo }) } }, POLL_MS));
  const repos = (guard.data?.repos ?? []).filter((each) => repo === undefined || `${each.owner}/${each.repo}` === repo);
  const shown = repos
    .map((each) => ({ ...each, kpis: each.kpis.filter(({ regressed }) => regressed || !values.regressed) }))
    .filter(({ kpis }) => kpis.length > 0);
  return (
    <Page
      title="Regressions"
      rejected={rejected}
      actions={
        <Button
          kind={values.regressed ? 'primary' : 'plain'}
          aria-pressed={values.regressed}
          onPress={() => set({ regressed: !values.regressed })}
        >
          Regressed only
        </Button>
      }
    >
      <div className={layout.stack}>
        {guard.data === undefined || guard.error || shown.length === 0 ? (
          <Panel title="KPIs against their baseline" query={guard} polledAt={guard.data?.polledAt} height={300}>
            {() =>
              repos.length > 0 ? (
                <EmptyNote tone="good" title="No KPI is worse than its baseline" />
              ) : (
                <EmptyNote title="No repository has been evaluated yet.">
                  <p>KPIs are evaluated once an hour.</p>
                </EmptyNote>
              )
            }
          </Panel>
        ) : (
          shown.map(({ owner, repo: name, kpis }) => (
            <Panel
              key={`${owner}/${name}`}
              title={`${owner}/${name}`}
              metrics={kpis.map(({ kpi }) => kpi)}
              query={guard}
              polledAt={guard.data?.polledAt}
              height={300}
            >
              {() => <KpiTable repo={`${owner}/${name}`} kpis={kpis} />}
            </Panel>
          ))
        )}
        <ReliabilityPanel query={weekly} />
      </div>
    </Page>
  );
}
