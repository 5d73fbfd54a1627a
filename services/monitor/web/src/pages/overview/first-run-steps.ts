import type { Reply } from '../../api/types.ts';

export interface Step {
  title: string;
  done: boolean;
  detail: string;
  command: string;
}

/**
 * Returns what an installation needs before its first issue moves, in order.
 * @param readiness undefined = not known; the host then counts as connected.
 */
export function firstRunSteps(
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
export const isComplete = (steps: readonly Step[]): boolean => steps.at(-1)?.done === true;
