import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, prepareStandby, startPostgres } from '@pipeline/local-postgres';
import pg from 'pg';
import { closedWithFile } from '../processes/closing.ts';
import { until } from '../processes/until.ts';

export interface StreamingPair {
  primary: PostgresServer;
  standby: PostgresServer;
  /** Kills the first primary with all its processes, as a loss of power does. */
  killPrimary(): void;
  /** Makes the standby the primary. @returns when it accepts writes. */
  promote(): Promise<void>;
  close(): Promise<void>;
}

interface PairOptions {
  /** Default: a temporary folder that is removed at the end. */
  folder?: string | undefined;
  settings?: Record<string, string> | undefined;
}

/**
 * Starts a primary and its streaming replica. A commit on the primary is acknowledged when the standby has it as well
 * (`synchronous_standby_names`).
 */
export async function startStreamingPair({ folder, settings = {} }: PairOptions = {}): Promise<StreamingPair> {
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'pipeline-pair-')));
  const [primaryDir, standbyDir] = [join(home, 'primary'), join(home, 'standby')];
  const all = { wal_keep_size: '256MB', ...settings };
  const fresh = await startPostgres({ dataDir: primaryDir, port: 0, settings: all });
  await fresh.stop();
  await prepareStandby(primaryDir, standbyDir);
  const primary = await startPostgres({ dataDir: primaryDir, port: fresh.port, settings: all });
  const { password } = new URL(primary.url);
  const source = `host=127.0.0.1 port=${primary.port} user=postgres password=${password} application_name=standby`;
  const standby = await startPostgres({
    dataDir: standbyDir,
    port: 0,
    settings: { ...all, primary_conninfo: source },
  }).catch(async (error: unknown) => {
    await primary.stop();
    throw error;
  });
  await execute(primary.url, "alter system set synchronous_standby_names = 'standby'", 'select pg_reload_conf()');
  await until('the standby is synchronous', async () => {
    const rows = await execute(primary.url, "select from pg_stat_replication where sync_state = 'sync'");
    return rows.length === 1;
  });
  return {
    primary,
    standby,
    killPrimary: () => killServer(primary.pid),
    promote: async () => void (await execute(standby.url, 'select pg_promote()')),
    close: closedWithFile(async () => {
      await standby.stop();
      await primary.stop();
      if (folder === undefined) await rm(home, { recursive: true, force: true });
    }),
  };
}

/** @returns the rows of the last statement. */
async function execute(url: string, ...statements: string[]): Promise<object[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: object[] = [];
    for (const statement of statements) ({ rows } = await client.query<object>(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** Kills the first process and its children; alone, the children would finish what they had begun. */
function killServer(pid: number): void {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
  for (const one of [pid, ...children.map(Number)]) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

/** 0 for a process that has ended. */
function parentOf(pid: string): number {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
