import { Page } from '@pipeline/web/page/page.tsx';
import { useRepo } from '../../navigation/use-repo.ts';
import { AgentsPanel } from './agents-panel.tsx';
import { AlertsPanel } from './alerts-panel.tsx';
import { AutonomyPanel } from './autonomy-panel.tsx';
import { CostPanel } from './cost-panel.tsx';
import { FirstRun } from './first-run.tsx';
import { FunnelPanel } from './funnel-panel.tsx';
import { NeedsYou } from './needs-you.tsx';
import styles from './overview.module.css';
import { PoolPanel } from './pool-panel.tsx';
import { StatesPanel } from './states-panel.tsx';
import { useOverview } from './use-overview.ts';

/** Is the pipeline healthy, and what needs a person now? */
export default function OverviewPage() {
  const { repo } = useRepo();
  const overview = useOverview(repo);
  return (
    <Page title="Overview">
      <div className={styles.stack}>
        <FirstRun dashboard={overview.dashboard} />
        <NeedsYou overview={overview} repo={repo} />
        <StatesPanel overview={overview} repo={repo} />
        <div className={styles.columns}>
          <FunnelPanel query={overview.funnel} />
          <AlertsPanel query={overview.alerts} />
          <CostPanel query={overview.costs} />
          <AutonomyPanel autonomy={overview.autonomy} throughput={overview.throughput} />
          <PoolPanel query={overview.dashboard} repo={repo} />
          <AgentsPanel query={overview.dashboard} />
        </div>
      </div>
    </Page>
  );
}
