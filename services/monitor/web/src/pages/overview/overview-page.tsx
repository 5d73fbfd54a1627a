import { Page } from '@pipeline/web/page/page.tsx';
import { usePainted } from '@pipeline/web/timing/use-painted.ts';
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

/** Is the pipeline healthy, and what needs a person now? */
export default function OverviewPage() {
  const { repo } = useRepo();
  const isPainted = usePainted();
  return (
    <Page title="Overview">
      <div className={styles.stack}>
        <FirstRun />
        <NeedsYou repo={repo} />
        <StatesPanel repo={repo} />
        {isPainted && (
          <div className={styles.columns}>
            <div className={styles.stack}>
              <AlertsPanel repo={repo} />
              <CostPanel repo={repo} />
              <PoolPanel repo={repo} />
            </div>
            <div className={styles.stack}>
              <FunnelPanel repo={repo} />
              <AutonomyPanel repo={repo} />
              <AgentsPanel />
            </div>
          </div>
        )}
      </div>
    </Page>
  );
}
