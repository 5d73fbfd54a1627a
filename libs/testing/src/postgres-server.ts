import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@pipeline/stack/postgres';
import pg from 'pg';

export interface TestServer {
  /** What was chosen and why, for people. */
  choice: string;
  /** Of a role that may create databases. */
  url: string;
  stop(): Promise<void>;
}

const IMAGE = 'postgres:18-bookworm';

/** Nothing in a test's database is worth a wait for the disk. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  max_prepared_transactions: '50',
};

/**
 * The one way to a Postgres for tests. The environment decides: TEST_DATABASE_URL = a server that is there already;
 * TEST_POSTGRES = `container` or `embedded` insists on that kind; else a container where an engine answers and has or
 * gets the image, else embedded.
 * @throws Error when the wanted kind cannot be had.
 */
export async function startTestServer(env: NodeJS.ProcessEnv): Promise<TestServer> {
  if (env.TEST_DATABASE_URL) return { choice: 'TEST_DATABASE_URL', url: env.TEST_DATABASE_URL, stop: async () => {} };
  if (env.TEST_POSTGRES === 'embedded') return embedded('TEST_POSTGRES');
  if (env.TEST_POSTGRES === 'container') return container();
  if (!env.DOCKER_HOST && !existsSync('/var/run/docker.sock')) return embedded('no container engine');
  return container().catch((error: unknown) => embedded(`no container: ${String(error).split('\n')[0]}`));
}

async function embedded(reason: string): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pipeline-test-'));
  const server = await startPostgres({ dataDir, port: 0, settings: SETTINGS });
  return {
    choice: `embedded (${reason})`,
    url: server.url,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function container(): Promise<TestServer> {
  await reaperOnlyIfLocal();
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const { Wait } = await import('testcontainers');
  const flags = Object.entries(SETTINGS).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  // The log, not the port: whether 127.0.0.1 or the engine's own address leads to the port is found out below.
  const started = await new PostgreSqlContainer(IMAGE)
    .withCommand(['postgres', ...flags])
    .withTmpFs({ '/var/lib/postgresql': 'rw' })
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start();
  try {
    const url = new URL(started.getConnectionUri());
    url.hostname = await reachableHost(url, ['127.0.0.1', started.getHost()]);
    const stop = async () => {
      await started.stop({ remove: true, removeVolumes: true });
    };
    return { choice: `container ${IMAGE}`, url: url.href, stop };
  } catch (error) {
    await started.stop();
    throw error;
  }
}

/** Inside a container with the engine's socket, published ports may be on either side. The first host that answers. */
async function reachableHost(url: URL, hosts: string[]): Promise<string> {
  const errors: unknown[] = [];
  for (const host of hosts) {
    const own = new URL(url);
    own.hostname = host;
    const probe = new pg.Client({ connectionString: own.href, connectionTimeoutMillis: 3_000 });
    try {
      await probe.connect();
      await probe.end();
      return host;
    } catch (error) {
      errors.push(error);
    }
  }
  throw new AggregateError(errors, `the container's Postgres answers on none of ${hosts.join(', ')}`);
}

/** The reaper is a second image. Where it is not at hand it would be pulled, so it is used only if it is there. */
async function reaperOnlyIfLocal(): Promise<void> {
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers');
  if (process.env.TESTCONTAINERS_RYUK_DISABLED !== undefined) return;
  const client = await getContainerRuntimeClient();
  const there = await client.image.exists(new ImageName(undefined, 'testcontainers/ryuk', '0.14.0'));
  if (!there) process.env.TESTCONTAINERS_RYUK_DISABLED = 'true';
}
