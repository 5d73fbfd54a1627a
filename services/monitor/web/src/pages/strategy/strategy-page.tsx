import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { Panel } from '../../page/panel.tsx';
import { ChooseRepo } from '../choose-repo.tsx';
import { AutomationPanel } from './automation-panel.tsx';
import { CharterPanel } from './charter-panel.tsx';
import { SnapshotView } from './snapshot-view.tsx';
import { strategyInput } from './strategy-plans.ts';

const POLL_MS = 10_000;

/** Page of the strategy: what is proposed, and whether it is within bounds. */
export default function StrategyPage() {
  const { repo } = useRepo();
  if (repo === undefined) {
    return (
      <Page title="Strategy">
        <ChooseRepo what="its strategy" />
      </Page>
    );
  }
  return (
    <Page title="Strategy">
      <StrategyOf key={repo} repo={repo} />
    </Page>
  );
}

function StrategyOf({ repo }: { repo: string }) {
  const query = useQuery(read('listStrategySnapshots', strategyInput(repo), POLL_MS));
  const snapshots = query.data?.items ?? [];
  const proposed = snapshots.filter(({ status }) => status === 'proposed');
  const active = snapshots.filter(({ status }) => status === 'active');
  return (
    <div className={layout.stack}>
      <Panel title="Waiting for a decision" query={query} height={200}>
        {() =>
          proposed.length === 0 ? (
            <EmptyNote tone="good" title="No proposal waits for a decision" />
          ) : (
            <ul className={layout.list}>
              {proposed.map((snapshot) => (
                <li key={snapshot.version} className={layout.item}>
                  <SnapshotView repo={repo} snapshot={snapshot} />
                </li>
              ))}
            </ul>
          )
        }
      </Panel>
      <Panel title="Active" query={query} height={120}>
        {() =>
          active[0] ? (
            <SnapshotView repo={repo} snapshot={active[0]} />
          ) : (
            <EmptyNote title="No snapshot is active: the tracks run with their own settings." />
          )
        }
      </Panel>
      <AutomationPanel repo={repo} />
      <CharterPanel repo={repo} />
    </div>
  );
}
