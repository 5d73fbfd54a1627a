import { join } from 'node:path';
import pg from 'pg';
import { pgbench } from '../../measure/pgbench.ts';
import { CORE, pin } from '../../measure/pinning.ts';
import type { Sample } from '../../measure/sample.ts';
import { type Ask, type Load, loadWith } from '../../measure/wrk.ts';
import { makeReadable, PUBLIC_URL, type Readable, type ReadableRepo } from '../../ours/readable.ts';
import { makeAnchorRevisions, REVISION_SCRIPT } from '../../peers/anchor-revisions.ts';
import type { Bench, Contender } from '../../runner/model.ts';
import { buildService } from '../../services/build.ts';
import { type Child, startChild } from '../../services/child.ts';

/**
 * The hosted API over many issues, and what it is compared with, each as a process of its own on one core, with Postgres
 * and the load on another: left to the system, pgbench would have two cores of Postgres, and the API less than one.
 */
export interface ReadWorld {
  readable: Readable;
  api: Child;
  issues: number;
  seconds: number;
  /** An ask of the API for each repo. */
  asksOf(path: (repo: ReadableRepo) => string, headers?: Record<string, string>): Ask[];
  load(name: string, target: { url: string; pids: readonly number[] }, asks: readonly Ask[]): Promise<Load>;
  /** The API itself, its Postgres counted with it. */
  ours: { url: string; pids: readonly number[] };
  /** A server of `peers/servers` over the same database, one process each. */
  peer(file: string): Promise<Child>;
  pgbench(name: string, url: string, ...scripts: readonly string[]): Promise<Sample>;
  revisionByPgbench: Contender;
  /** Runs a statement on the database of the reads. */
  execute(statement: string): Promise<void>;
}

const SERVERS = join(import.meta.dirname, '../../peers/servers');

/** All the load comes from one address, and the anchors write no line for each request: no limits, no log of requests. */
const UNLIMITED = { CONNECTION_RATE_LIMIT: '0', ORG_RATE_LIMIT: '0', ADDRESS_RATE_LIMIT: '0', MCP_RATE_LIMIT: '0' };

/**
 * A process is slow at first: it compiles, and its connections plan their statements. After one second of load the API still
 * gains a third in the next three.
 */
const WARM_UP_SECONDS = 8;

export async function openReadWorld(bench: Bench): Promise<ReadWorld> {
  const issues = bench.quick ? 100_000 : 1_000_000;
  const seconds = bench.quick ? 1 : 2;
  bench.say(`making ${issues.toLocaleString('en-US')} issues to read`);
  const readable = await makeReadable(bench, issues);
  const anchorUrl = await makeAnchorRevisions(bench);
  const { workDir } = bench;
  // Connections from now on are on that core; those of before only made the data.
  bench.stack.add('all cores for Postgres', pin(bench.server.pid, CORE.rest));
  const warmed = new Set<string>();
  const start = async (name: string, args: string[], env: Record<string, string>) => {
    const child = await startChild({
      args,
      env: { NODE_ENV: 'production', ...env },
      logFile: join(workDir, `${name}.log`),
    });
    bench.stack.add(name, () => child.stop());
    pin(child.pid, CORE.answers);
    return child;
  };
  const api = await start('hosted-api-reads', [await buildService('hosted-api', workDir)], {
    DATABASE_URL: readable.url,
    PUBLIC_URL,
    LOG_LEVEL: 'warn',
    ...UNLIMITED,
  });
  const load: ReadWorld['load'] = async (name, target, asks) => {
    const options = { ...target, asks, seconds, workDir, name, expect: 'success' as const };
    if (!warmed.has(`${name} ${target.url}`)) await loadWith({ ...options, seconds: WARM_UP_SECONDS });
    warmed.add(`${name} ${target.url}`);
    return loadWith(options);
  };
  const peers = new Map<string, Promise<Child>>();
  const peer = (file: string) => {
    const args = ['--disable-warning=ExperimentalWarning', join(SERVERS, `${file}-main.ts`)];
    const child = peers.get(file) ?? start(`peer-${file}`, args, { DATABASE_URL: readable.url });
    peers.set(file, child);
    return child;
  };
  return {
    readable,
    api,
    issues,
    seconds,
    ours: { url: api.url, pids: [api.pid, bench.server.pid] },
    asksOf: (path, headers = {}) =>
      readable.repos.map((repo) => ({
        path: path(repo),
        headers: { authorization: `Bearer ${repo.token}`, ...headers },
      })),
    load,
    peer,
    execute: (statement) => execute(readable.url, statement),
    pgbench: (name, url, ...scripts) => pgbench({ url, workDir, name, seconds }, ...scripts),
    revisionByPgbench: {
      name: 'pgbench, revision read',
      sample: () => pgbench({ url: anchorUrl, workDir, name: 'revision', seconds }, REVISION_SCRIPT),
    },
  };
}

async function execute(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString, options: '-c search_path=pipeline,public' });
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Returns the CPU time of an answer as the value that is compared. */
export const costOf = async (load: () => Promise<Sample>): Promise<Sample> => {
  const { cpu } = await load();
  return { value: cpu?.services ?? Number.NaN, cpu };
};

/** @throws Error for another status than 200. */
export async function textOf(url: string, token: string): Promise<string> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}: ${text}`);
  return text;
}
