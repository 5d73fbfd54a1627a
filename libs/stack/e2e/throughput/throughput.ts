import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '@pipeline/local-postgres';
import { sleep } from '@pipeline/runtime';
import { cpuOfTree } from '@pipeline/testing/process-cpu';
import pg from 'pg';
import { type Host, SLUG, startHost } from '../../test/replicas/host.ts';
import { type Checks, seconds } from '../checks.ts';
import type { E2e } from '../journey.ts';
import { createWorkerToken } from '../upgrade/contract-runs.ts';
import { commitBefore, current, installRelease, type Release } from '../upgrade/release.ts';
import { type Replica, Rollout } from '../upgrade/rollout.ts';
import { Crew } from './crew.ts';

const EVERY_MS = 1_000;

const OPEN_WORK = `select (select count(*) from tasks)
  + (select count(*) from repo_scans where due_at <= now())
  + (select count(*) from projections where status = 'pending')
  + (select count(*) from webhook_deliveries where processed_at is null) as n`;

const ORG = 'default';
const DEFAULT_ISSUES = 60;
/** Programs are compiled and statements planned by them. */
const WARM_UP_ISSUES = 10;
const WORKERS = 8;
const REST_MS = 10_000;
const WITHIN_MS = 20 * 60_000;
const HOUR_MS = 60 * 60_000;

/**
 * Measures the cost of a whole issue, from the host to done: CPU of the services and of Postgres. Workers do no work of
 * their own, the host is the sandbox with a real git repository; neither is counted. With `--from` an earlier version
 * does the same.
 */
export async function throughput({ checks, dataDir, env, issues, from }: E2e): Promise<void> {
  const inherited = { PATH: env.PATH, HOME: env.HOME };
  const releases = [current(inherited)];
  const before = from === null ? null : await commitBefore(from);
  if (before) releases.unshift(await installRelease({ ...before, folder: join(dataDir, 'release') }, inherited));
  const costs: number[] = [];
  for (const [at, release] of releases.entries()) {
    const folder = join(dataDir, `${at}`);
    await mkdir(folder, { recursive: true });
    costs.push(await cpuPerIssue(checks, { release, folder, issues: issues ?? DEFAULT_ISSUES }));
  }
  const [earlier, now] = costs;
  if (earlier !== undefined && now !== undefined)
    checks.figure(`CPU of an issue, ${before?.name} / this version`, earlier / now, 'times');
}

interface Run {
  release: Release;
  folder: string;
  issues: number;
}

/** @returns milliseconds of CPU. */
async function cpuPerIssue(checks: Checks, { release, folder, issues }: Run): Promise<number> {
  const server = await startPostgres({ dataDir: join(folder, 'postgres'), port: 0, settings: { jit: 'off' } });
  const host = await startHost();
  const rollout = new Rollout({ folder, databaseUrl: server.url, host, pollsOften: false });
  try {
    await release.migrate(server.url);
    await release.admin(server.url, 'org', 'create', ORG);
    const token = await createWorkerToken(release, server.url, ORG);
    await rollout.listen();
    const replica = await rollout.start(release);
    host.hooks.push(rollout.urls.hosted);
    const crew = new Crew({ url: rollout.urls.hosted, token, host });
    await crew.start(WORKERS);
    try {
      return await measured(checks, { release, host, server, replica, issues });
    } finally {
      await crew.stop();
    }
  } finally {
    await rollout.close();
    await host.stop();
    await server.stop();
  }
}

interface Measured {
  release: Release;
  host: Host;
  server: PostgresServer;
  replica: Replica;
  issues: number;
}

async function measured(checks: Checks, { release, host, server, replica, issues }: Measured): Promise<number> {
  const { name } = release;
  const progress = await Progress.open(server.url);
  try {
    await openIssues(host, WARM_UP_ISSUES);
    checks.that(`${name}: the warm-up ends`, await progress.untilDone(WARM_UP_ISSUES, WITHIN_MS));
    const atRest = totalOf(cpuOf(server, replica));
    await sleep(REST_MS);
    checks.figure(
      `${name}: CPU at rest`,
      (totalOf(cpuOf(server, replica)) - atRest) / (REST_MS / 1_000),
      'ms a second',
    );
    const before = { ...cpuOf(server, replica), tasks: await progress.endedRuns() };
    const began = performance.now();
    await openIssues(host, issues);
    const isDone = await progress.untilDone(WARM_UP_ISSUES + issues, WITHIN_MS);
    const ms = performance.now() - began;
    const after = { ...cpuOf(server, replica), tasks: await progress.endedRuns() };
    checks.that(`${name}: ${issues} issues are done after ${seconds(ms)}`, isDone);
    const perIssue = (of: keyof typeof before) => (after[of] - before[of]) / issues;
    const total = perIssue('hosted') + perIssue('monitor') + perIssue('postgres');
    checks.figure(`${name}: tasks of an issue`, perIssue('tasks'), '');
    checks.figure(`${name}: CPU of an issue`, total, 'ms');
    checks.figure(`${name}: of it the hosted API`, perIssue('hosted'), 'ms');
    checks.figure(`${name}: of it the monitor`, perIssue('monitor'), 'ms');
    checks.figure(`${name}: of it Postgres`, perIssue('postgres'), 'ms');
    checks.figure(`${name}: issues per hour with the host and git on the same machine`, (issues / ms) * HOUR_MS, '');
    checks.figure(`${name}: issues per hour and core of services and Postgres`, HOUR_MS / total, '');
    return total;
  } finally {
    await progress.close();
  }
}

async function openIssues(host: Host, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await host.api('POST', `/repos/${SLUG}/issues`, { title: `Issue ${n}`, labels: ['svc:enqueue'] });
  }
}

const totalOf = ({ hosted, monitor, postgres }: ReturnType<typeof cpuOf>): number => hosted + monitor + postgres;

/** Milliseconds until now. */
const cpuOf = ({ pid }: PostgresServer, { services }: Replica) => ({
  hosted: cpuOfTree(services['hosted-api'].pid) / 1_000,
  monitor: cpuOfTree(services.monitor.pid) / 1_000,
  postgres: cpuOfTree(pid) / 1_000,
});

/**
 * Progress of the issues. It keeps one connection and asks little, because what it costs the server is measured with
 * the services' own work.
 */
class Progress {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(url: string): Promise<Progress> {
    const client = new pg.Client({ connectionString: url, options: '-c search_path=pipeline,public' });
    await client.connect();
    return new Progress(client);
  }

  /** Waits until so many issues are done and nothing is left to do. @returns false when that took too long. */
  async untilDone(issues: number, withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    while (performance.now() < deadline) {
      const done = await this.#count("select count(*) as n from issues where state = 'done'");
      if (done >= issues && (await this.#count(OPEN_WORK)) === 0) return true;
      await sleep(EVERY_MS);
    }
    return false;
  }

  endedRuns(): Promise<number> {
    return this.#count("select count(*) as n from runs where status <> 'claimed'");
  }

  close(): Promise<void> {
    return this.#client.end();
  }

  async #count(text: string): Promise<number> {
    const { rows } = await this.#client.query<{ n: string }>(text);
    return Number(rows[0]?.n);
  }
}
