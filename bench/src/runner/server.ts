import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@pipeline/local-postgres';
import { databaseUrl, ensureTemplate, execute } from '@pipeline/testing/template';
import pg from 'pg';

const MIB = 1024 * 1024;

/** A server of some size, on a disk that keeps what it promised. */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: `${Math.min(4096, Math.floor(totalmem() / 4 / MIB))}MB`,
  work_mem: '64MB',
  max_wal_size: '8GB',
  checkpoint_timeout: '30min',
  random_page_cost: '1.1',
  jit: 'off',
  shared_preload_libraries: 'pg_stat_statements',
  max_connections: '200',
};

/** The Postgres that all contenders share; each has a database of its own. */
export interface BenchServer {
  /** Process id of the postmaster, whose descendants are counted as its CPU. */
  pid: number;
  version: string;
  settings: Record<string, string>;
  /** Makes an empty database of that name, in place of an old one. @returns its address. */
  emptyDatabase(name: string): Promise<string>;
  /** Makes a database with the service's schema. @returns its address. */
  pipelineDatabase(name: string): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** @param dataDir keeps the cluster from run to run; what a killed run left behind is cleared. */
export async function startServer(dataDir: string): Promise<BenchServer> {
  const { url, stop } = await startPostgres({ dataDir, port: 0, settings: SETTINGS });
  try {
    const pidFile = await readFile(join(dataDir, 'cluster', 'postmaster.pid'), 'utf8');
    const recreate = async (name: string, template: string) => {
      await execute(
        url,
        `drop database if exists ${name} with (force)`,
        `create database ${name} template ${template} strategy file_copy`,
      );
      return databaseUrl(url, name);
    };
    return {
      pid: Number(pidFile.split('\n')[0]),
      version: await serverVersion(url),
      settings: SETTINGS,
      emptyDatabase: (name) => recreate(name, 'template0'),
      pipelineDatabase: async (name) => recreate(name, await ensureTemplate(url)),
      dropDatabase: (name) => execute(url, `drop database if exists ${name} with (force)`),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function serverVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version ?? 'unknown';
  } finally {
    await client.end();
  }
}
