import { Button } from '@pipeline/web/components/button.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { useQuery } from '@tanstack/react-query';
import type { ActionPlan } from '../../actions/action.ts';
import { startAction } from '../../actions/perform.ts';
import { read } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { DatabasePanel, SettingsPanel } from './facts-panels.tsx';
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

const named = (words: string, keys: readonly string[]): string =>
  keys.length === 0 ? '' : `${words} ${keys.join(', ')}`;

/** Reads the configuration file again; the result names the keys. */
const reloadPlan = (): ActionPlan => ({
  grade: 1,
  verb: 'Reload',
  object: 'the configuration',
  effect: (
    <>
      <p>The file is validated as a whole: an invalid one changes nothing.</p>
      <p>
        Reloadable keys take effect at once in every process. The others are deferred until the process restarts, and
        are listed below. A monitor that runs without a configuration file has nothing to reload and refuses.
      </p>
    </>
  ),
  reason: 'none',
  run: async () => {
    const { appliedKeys, deferredKeys } = await request('reloadConfig', {});
    const parts = [named('applied', appliedKeys), named('deferred until a restart:', deferredKeys)].filter(Boolean);
    return parts.length === 0 ? 'nothing has changed' : parts.join('; ');
  },
});
