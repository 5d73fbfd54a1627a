import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './overview.module.css';
import { overviewReads } from './overview-reads.ts';

interface Step {
  title: string;
  done: boolean;
  detail: string;
  command: string;
}

const POLL_MS = 3_000;

/** Steps that a new installation still lacks, with the one command for each; gone once an agent has worked. */
export function FirstRun() {
  const dashboard = useQuery(overviewReads(undefined).dashboard);
  const config = useQuery(read('configSummary', {}));
  const isKnown = config.data !== undefined && dashboard.data !== undefined;
  const mayLack = isKnown && !isComplete(firstRunSteps(config.data, dashboard.data, undefined));
  const readiness = useQuery({ ...read('getReadiness', {}, POLL_MS), enabled: mayLack });
  const fresh = useQuery({ ...read('configSummary', {}, POLL_MS), enabled: mayLack });
  if (!mayLack || !fresh.data || !dashboard.data) return null;
  const steps = firstRunSteps(fresh.data, dashboard.data, readiness.data);
  return (
    <Panel title="First run: what is missing" query={fresh} height={220}>
      {() => (
        <ol className={styles.steps}>
          {steps.map(({ title, done, command, detail }) => (
            <li key={title} className={styles.step}>
              <Glyph name={done ? 'tick' : 'outline'} colour={done ? '--good' : '--muted'} />
              <div>
                <p>
                  {title} <span className={done ? styles.good : styles.muted}>{done ? 'done' : 'missing'}</span>
                </p>
                {!done && <p className={styles.muted}>{detail}</p>}
                {!done && (
                  <div className={styles.command}>
                    <pre>{command}</pre>
                    <CopyButton text={command} what="command" />
                  </div>
                )}
              </div>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

/**
 * Returns what an installation needs before its first issue moves, in order.
 * @param readiness undefined = not known; the host then counts as connected.
 */
function firstRunSteps(
  config: Reply<'configSummary'>,
  dashboard: Reply<'readDashboard'>,
  readiness: Reply<'getReadiness'> | undefined,
): Step[] {
  const workers = (dashboard.workerPool ?? []).reduce((sum, { total, offline }) => sum + total - offline, 0);
  const agents = Object.keys(dashboard.agents).filter((name) => name !== 'monitor');
  return [
    {
      title: 'Database',
      done: config.database.connected,
      detail: 'The monitor has no connection to Postgres. Set this variable and restart it.',
      command: 'DATABASE_URL=postgres://user:password@host:5432/database',
    },
    {
      title: 'Version-control host',
      done: config.database.connected && (readiness === undefined || readiness.outbox !== 'off'),
      detail: 'The monitor reads from no host and writes to none. Set this variable and restart it.',
      command: 'GITHUB_TOKEN=…',
    },
    {
      title: 'Repository',
      done: config.repos.length > 0,
      detail: 'No repository is enabled. Add one with this command, or on the page Configuration.',
      command: 'pipeline repo add OWNER/NAME',
    },
    {
      title: 'Worker',
      done: workers > 0,
      detail: 'No worker is online. Create a token, then start a worker with your agent.',
      command:
        "pipeline admin worker-token create my-worker\nexport WORKER_TOKEN=wrk_at_…\npipeline-worker --server http://127.0.0.1:8080 --tasks analyze,plan,develop,review,merge --exec './my-agent'",
    },
    {
      title: 'First issue',
      done: agents.length > 0,
      detail: 'No agent has worked yet. Give an issue of the repository this label.',
      command: 'svc:enqueue',
    },
  ];
}

/** Once an agent has worked, what is missing later is shown by alerts and by the page of the workers. */
const isComplete = (steps: readonly Step[]): boolean => steps.at(-1)?.done === true;
