import { Button } from '@pipeline/web/components/button.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { useQuery } from '@tanstack/react-query';
import { startAction } from '../../actions/perform.ts';
import { read } from '../../api/query.ts';
import { DatabasePanel, SettingsPanel } from './facts-panels.tsx';
import { reloadPlan } from './reload-plan.tsx';
import { ReloadsPanel } from './reloads-panel.tsx';
import { ReposPanel } from './repos-panel.tsx';

const POLL_MS = 10_000;

/** Page of the processes and the settings with which they run. */
export default function ConfigurationPage() {
  const summary = useQuery(read('configSummary', {}, POLL_MS));
  const repos = useQuery(read('listRepos', {}, POLL_MS));
  return (
    <Page
      title="Configuration"
      actions={<Button onPress={() => startAction(reloadPlan())}>Reload the configuration</Button>}
    >
      <div className={layout.stack}>
        <ReposPanel query={repos} />
        <ReloadsPanel query={summary} />
        <div className={layout.columns}>
          <SettingsPanel query={summary} />
          <DatabasePanel query={summary} />
        </div>
      </div>
    </Page>
  );
}
