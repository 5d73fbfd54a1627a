import { existsSync, statfsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeAbandoned, startPostgres } from '@pipeline/local-postgres';
import type { TestServer } from './postgres-container.ts';

/** Settings for data that is thrown away. Without autovacuum, plans depend on what a test analyzes and on nothing else. */
const SETTINGS = {
  autovacuum: 'off',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  jit: 'off',
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

/** Loaded only where it is used: the container library takes a second to load. */
async function container(): Promise<TestServer> {
  const { startContainer } = await import('./postgres-container.ts');
  return startContainer(SETTINGS);
}

const FOLDER = 'pipeline-test-';
const MEMORY = '/dev/shm';
/** Bytes that the databases of a run need at most. */
const ROOM = 4e9;

/** The folder for the data: in memory where the machine has such a file system with room, which halves a clone. */
function dataFolder(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > ROOM ? MEMORY : tmpdir();
}

async function embedded(reason: string): Promise<TestServer> {
  await removeAbandonedFolders();
  const dataDir = await mkdtemp(join(dataFolder(), FOLDER));
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

/** A run that was killed leaves its server behind; the next run clears it away. */
async function removeAbandonedFolders(): Promise<void> {
  for (const parent of new Set([tmpdir(), dataFolder()])) {
    const folders = (await readdir(parent)).filter((name) => name.startsWith(FOLDER));
    for (const folder of folders) await removeAbandoned(join(parent, folder));
  }
}
