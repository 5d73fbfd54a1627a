import { existsSync, statfsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeAbandoned, startPostgres } from '@pipeline/local-postgres';

/** A Postgres server for one run of the tests. */
export interface TestServer {
  /** Name of the chosen server, for people. */
  choice: string;
  /** URL with a role that may create databases. */
  url: string;
  stop(): Promise<void>;
}

/** Settings for data that is thrown away. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  jit: 'off',
  max_connections: '300',
  max_prepared_transactions: '50',
};

/**
 * Returns the Postgres server of a test run: the running server that TEST_DATABASE_URL names, otherwise an embedded
 * one, which it starts.
 * @throws Error when the embedded server does not start.
 */
export async function startTestServer(env: NodeJS.ProcessEnv): Promise<TestServer> {
  if (env.TEST_DATABASE_URL) return { choice: 'TEST_DATABASE_URL', url: env.TEST_DATABASE_URL, stop: async () => {} };
  return startEmbedded();
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

async function startEmbedded(): Promise<TestServer> {
  await removeAbandonedFolders();
  const dataDir = await mkdtemp(join(dataFolder(), FOLDER));
  const server = await startPostgres({ dataDir, port: 0, settings: SETTINGS });
  return {
    choice: 'embedded',
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
