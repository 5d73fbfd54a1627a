import { oneOf } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import { dashboardRead } from '../../api/read-dashboard.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { CostPanel } from '../overview/cost-panel.tsx';
import { AgentsCostPanel, ReposCostPanel } from './bars-panels.tsx';
import { BudgetsPanel } from './budgets-panel.tsx';
import { ModelsPanel } from './models-panel.tsx';
import { MostExpensivePanel } from './most-expensive-panel.tsx';
import { WINDOWS } from './windows.ts';

const FIELDS = { window: oneOf(['24h', '7d', '30d', 'lifetime'], '7d') };
const POLL_MS = 30_000;

/** Page of the costs by who spends them. */
export default function CostsPage() {
  const { repo } = useRepo();
  const { values, set, rejected } = useAddress(FIELDS);
  const whose = repo ? { repo } : {};
  const summary = useQuery(read('pipelineCostSummary', { query: whose }, POLL_MS));
  const models = useQuery(read('costByModel', { query: { ...whose, window: values.window } }, POLL_MS));
  const dashboard = useQuery(dashboardRead(POLL_MS));
  return (
    <Page
      title="Costs"
      rejected={rejected}
      actions={
        <fieldset className={layout.group} aria-label="Window">
          {WINDOWS.map(({ id, label }) => (
            <Button
              key={id}
              kind={values.window === id ? 'primary' : 'plain'}
              aria-pressed={values.window === id}
              onPress={() => set({ window: id }, { push: true })}
            >
              {label}
            </Button>
          ))}
        </fieldset>
      }
    >
      <div className={layout.stack}>
        <CostPanel repo={repo} />
        <ModelsPanel query={models} window={values.window} />
        <div className={layout.columns}>
          <ReposCostPanel query={summary} window={values.window} />
          <AgentsCostPanel query={summary} />
          <BudgetsPanel query={dashboard} />
          <MostExpensivePanel repo={repo} />
        </div>
      </div>
    </Page>
  );
}
