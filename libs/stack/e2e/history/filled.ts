import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '@pipeline/local-postgres';
import { migrateToLatest, openStore, type Store } from '@pipeline/store';
import { FULL_HISTORY, type History, simulateHistory } from '@pipeline/testing/history';
import { LOG_PREFIX } from './plans.ts';

/** End of the history, at which the clock of the store is held during the requests. */
const END = new Date('2026-03-10T12:34:56.789Z');

/** Size for work on the checks themselves: with so few issues plans are not judged. */
const SMALL = { tenants: 4, repos: 12, days: 30 };

/** Nothing of it is worth more than making it again. */
export const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  shared_buffers: '512MB',
  maintenance_work_mem: '256MB',
  random_page_cost: '1.1',
  log_line_prefix: LOG_PREFIX,
};

export interface Filled {
  server: PostgresServer;
  history: History;
  /** Null for a history that an earlier run made. */
  madeInMs: number | null;
}

/** A server whose store holds the whole history; the one that the folder has from an earlier run, where it has one. */
export async function filled(
  dataDir: string,
  { seed, issues }: { seed: number; issues: number | null },
): Promise<Filled> {
  const server = await startPostgres({ dataDir: join(dataDir, 'postgres'), port: 0, settings: SETTINGS });
  try {
    const known = await readFile(join(dataDir, 'history.json'), 'utf8').catch(() => null);
    const began = performance.now();
    await migrateToLatest(server.url);
    if (known !== null) return { server, history: revived(JSON.parse(known) as History), madeInMs: null };
    const store = storeAt(server.url);
    try {
      const history = await simulateHistory(store.db, {
        ...(issues === null ? FULL_HISTORY : { ...SMALL, issues }),
        seed,
        end: END,
      });
      await writeFile(join(dataDir, 'history.json'), JSON.stringify(history));
      return { server, history, madeInMs: performance.now() - began };
    } finally {
      await store.close();
    }
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** A store whose clock stands at the end of a history; its statements may take as long as they take. */
export const storeAt = (databaseUrl: string, now = END): Store =>
  openStore({
    databaseUrl,
    applicationName: 'e2e-history',
    poolSize: 2,
    statementTimeoutMs: 0,
    idleInTransactionMs: 0,
    clock: () => now,
    onConnectionError: () => undefined,
  });

const revived = (history: History): History => ({
  ...history,
  start: new Date(history.start),
  end: new Date(history.end),
});
