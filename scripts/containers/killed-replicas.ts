/** Requests of both services while their replicas are killed, one after the other. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { clientCredentials, createHostedClient, createMonitorClient } from '../../libs/client/src/index.ts';
import { type Compose, must } from './docker.ts';
import { until } from './report.ts';

const run = promisify(execFile);
const SERVICES = ['hosted-api', 'monitor'] as const;
/** Pause of a client between two requests. */
const PAUSE_MS = 250;
const CLIENTS = 2;
const HEALTHY_WITHIN_MS = 90_000;

/** The list of issues, which both services have. */
interface IssueList {
  query: { repo?: string; state?: string };
  result: { items: unknown[] };
}

/** A client of the monitor that reads the list of issues. */
export const monitorReader = (url: string, password: string) =>
  createMonitorClient<{ searchIssues: IssueList }>({ url, username: 'operator', password, retries: 5 });

interface Clients {
  hosted: { url: string; clientId: string; clientSecret: string };
  monitor: ReturnType<typeof monitorReader>;
}

/**
 * Kills each replica of both services and starts it again, while clients that retry read from both.
 * @returns the number of requests. @throws Error with the first request that failed.
 */
export async function clientsWhileReplicasDie(
  compose: Compose,
  { hosted, monitor }: Clients,
  repo: string,
): Promise<string> {
  const token = clientCredentials(hosted);
  const api = createHostedClient<{ listIssues: IssueList }>({ url: hosted.url, token, retries: 5 });
  const requests = [() => api.listIssues({ query: { repo } }), () => monitor.searchIssues({ query: { repo } })];
  const containers = SERVICES.flatMap((name) =>
    must(compose(['ps', '--quiet', name]))
      .trim()
      .split('\n'),
  );
  if (containers.length !== 2 * SERVICES.length) throw new Error(`${containers.length} replicas`);
  // The first request gets the access token, which is not retried.
  for (const request of requests) await request();
  let done = 0;
  let isOver = false;
  const client = async (request: () => Promise<unknown>): Promise<void> => {
    while (!isOver) {
      await request();
      done += 1;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const reading = Promise.all(requests.flatMap((request) => Array.from({ length: CLIENTS }, () => client(request))));
  const killing = killInTurn(containers).finally(() => {
    isOver = true;
  });
  await Promise.all([killing, reading]);
  return `${done} requests, ${containers.length} replicas killed`;
}

async function killInTurn(containers: readonly string[]): Promise<void> {
  for (const id of containers) {
    await run('docker', ['kill', '--signal', 'KILL', id]);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await run('docker', ['start', id]);
    await until(`${id} is healthy`, async () => (await healthOf(id)) === 'healthy', HEALTHY_WITHIN_MS);
  }
}

async function healthOf(id: string): Promise<string> {
  const { stdout } = await run('docker', ['inspect', '--format', '{{.State.Health.Status}}', id]);
  return stdout.trim();
}
