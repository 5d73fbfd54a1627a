import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PostgresServer } from '@pipeline/local-postgres';
import { sleep } from '@pipeline/runtime';
import { seconds } from '../checks.ts';
import { configIn, type Deployment } from '../deployment/deployment.ts';
import { storeAt } from '../history/filled.ts';
import { bigTables, readingsIn } from '../history/plans.ts';
import { type E2e, untilDone } from '../journey.ts';
import { poll } from '../poll.ts';
import { inWords, Mix, mixAt } from '../soak/mix.ts';
import { percentile, Requests } from '../soak/requests.ts';
import type { StoreView } from '../store-view.ts';
import type { Filled } from './fill.ts';
import { type Episode, LockWatch, logAfter, waitsIn } from './locks.ts';
import { expectedMonths, monthAfter, RETAINED } from './retained.ts';
import { type SnapshotOptions, stillDue } from './snapshot.ts';
import { lineOf, resetStatements, statementsOf } from './statements.ts';
import { longLocks, longWaits, wrongMonths } from './verdict.ts';

const MINUTES_BEFORE = 2;
const AFTER_MS = 30_000;
const RATE = 2;
/** Months that the monitor creates ahead. */
const AHEAD = 3;
/** Number of these months that are missing when it begins. */
const MISSING = 2;
export const WITHIN_MS = 60 * 60_000;
/** Each read takes some milliseconds from those who are measured. */
const EVERY_MS = 3_000;
const SHOWN_ERRORS = 20;

/** Nothing is due until the settings in force change. */
export const FOREVER = 'retention: {eventsDays: 36500, messagesDays: 36500, runsDays: 36500, projectionsDays: 36500}\n';
const DEFAULTS = 'retention: {}\n';

/** Statements of the retention, as they begin. */
const OWN = /fleet: retention|_month_partition|delete from webhook_deliveries/;

const MONTHLY = RETAINED.filter(({ by }) => by === 'month');

export interface Scene extends E2e {
  server: PostgresServer;
  store: StoreView;
  filled: Filled;
  deployment: Deployment;
}

/** The mix of users before, while and after the retention works off what is due. */
export async function underLoad(scene: Scene, options: SnapshotOptions): Promise<void> {
  const { checks, deployment, store, minutes, rate } = scene;
  const ending = new AbortController();
  const requests = new Requests(ending.signal);
  const mix = new Mix(deployment, requests, mixAt(rate ?? RATE));
  checks.note(inWords(mixAt(rate ?? RATE)));
  const errors: string[] = [];
  const phase = (name: string) => {
    const { ms, errors: failed } = requests.take();
    errors.push(...failed);
    const [p50, p95, most] = [percentile(ms, 0.5), percentile(ms, 0.95), ms.at(-1) ?? 0];
    checks.note(
      `${name}: ${ms.length} requests, p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)}, slowest ${most.toFixed(0)}`,
    );
    checks.figure(`p95 ${name}`, p95, 'ms');
  };
  try {
    await mix.start();
    await sleep((minutes ?? MINUTES_BEFORE) * 60_000, mix.load.failed);
    phase('before');
    await whileItWorks(scene, options, mix.load.failed);
    phase('while the retention works');
    await sleep(AFTER_MS, mix.load.failed);
    phase('afterwards');
    await mix.stopUsers();
    checks.that('the issues of the load are done', await untilDone(store, mix.issues, WITHIN_MS), await store.open());
    checks.that('no worker failed', !mix.load.failed.aborted, String(mix.load.failed.reason));
  } finally {
    ending.abort();
    await mix.stop();
  }
  checks.none(
    'no request failed and no service logged an error',
    [...errors, ...logged(deployment)].slice(0, SHOWN_ERRORS),
  );
}

const logged = ({ apis, monitors }: Deployment): string[] =>
  [...apis, ...monitors].flatMap(({ lines }) =>
    lines.filter(({ level }) => level === 'error').map((line) => JSON.stringify(line).slice(0, 400)),
  );

/** Runs the checks from the reload of the settings until no row is due. */
async function whileItWorks(scene: Scene, options: SnapshotOptions, failed: AbortSignal): Promise<void> {
  const { checks, store, server } = scene;
  for (const { table } of MONTHLY) await dropAhead(store, table, options.at);
  const logged = (await readFile(server.logFile, 'utf8')).length;
  await resetStatements(store);
  const lsn = await walPosition(store);
  const watch = new LockWatch(
    server.url,
    MONTHLY.flatMap(({ table }) => [table, `${table}_default`]),
  );
  const began = performance.now();
  await reload(scene);
  await untilMonthsAreRight(scene, options, failed);
  // It takes time from those who are measured.
  const episodes = await watch.stop();
  await untilNothingIsDue(scene, options, failed);
  const tookMs = performance.now() - began;
  checks.note(`nothing is due after ${seconds(tookMs)}`);
  checks.figure('until nothing is due', tookMs / 1_000, 's');
  checks.note(`WAL: ${((await walPosition(store)) - lsn).toFixed(0)} MiB, the load's included`);
  for (const statement of await statementsOf(store)) checks.note(lineOf(statement));
  await judgeLocks(scene, episodes, logged);
}

/** Drops the last months, as if they had not been created: the service creates them while others write. */
async function dropAhead(store: StoreView, table: string, at: Date): Promise<void> {
  for (let ahead = AHEAD; ahead > AHEAD - MISSING; ahead -= 1) {
    await store.rows(`drop table ${table}_${monthAfter(at, ahead).replace('-', '_')}`);
  }
}

async function walPosition(store: StoreView): Promise<number> {
  const [row] = await store.rows<{ mib: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 / 1048576 as mib`,
  );
  return row?.mib ?? 0;
}

async function reload({ dataDir, deployment }: Scene): Promise<void> {
  const file = configIn(join(dataDir, 'config'));
  await writeFile(file, (await readFile(file, 'utf8')).replace(FOREVER, DEFAULTS));
  const response = await fetch(`${deployment.monitors[0]?.url}/api/config/reload`, { method: 'POST' });
  if (!response.ok) throw new Error(`the reload answers ${response.status}: ${await response.text()}`);
}

async function untilMonthsAreRight(
  { checks, store }: Scene,
  { at }: SnapshotOptions,
  signal: AbortSignal,
): Promise<void> {
  const began = performance.now();
  const areRight = async () => (await wrongPartitions(store, at)).length === 0;
  await poll('months are created and dropped', areRight, { withinMs: WITHIN_MS, signal });
  checks.note(`months are created and dropped after ${seconds(performance.now() - began)}`);
}

async function untilNothingIsDue(
  { checks, store }: Scene,
  options: SnapshotOptions,
  failed: AbortSignal,
): Promise<void> {
  const began = performance.now();
  let open: readonly string[] = RETAINED.map(({ table }) => table);
  while (open.length > 0) {
    if (performance.now() - began > WITHIN_MS) throw new Error(`still due: ${open.join(', ')}`);
    if (!(await sleep(EVERY_MS, failed))) throw failed.reason;
    const now = await stillDue(store, options);
    for (const table of open) {
      if (!now.includes(table)) checks.note(`${seconds(performance.now() - began)}: nothing due in ${table}`);
    }
    open = now;
  }
}

async function judgeLocks({ checks, server }: Scene, episodes: readonly Episode[], logged: number): Promise<void> {
  const log = await logAfter(server.logFile, logged);
  for (const { table, waitedMs, heldMs } of episodes)
    checks.note(`${table}: locked for ${heldMs.toFixed(0)} ms after a wait of ${waitedMs.toFixed(0)} ms`);
  const { waits, cancelled } = waitsIn(log);
  const longest = waits.toSorted((a, b) => b.ms - a.ms)[0];
  checks.note(
    `${waits.length} waits of 50 ms or more for the lock of a table; ` +
      (longest === undefined ? 'none' : `the longest: ${longest.application}, ${longest.ms.toFixed(0)} ms`),
  );
  checks.none('no table was locked for too long', longLocks(episodes));
  checks.none('no statement waited too long for the lock of a table', longWaits(waits));
  checks.none('no timeout cancelled a statement', cancelled);
  const store = storeAt(server.url);
  try {
    const readings = await readingsIn(server.logFile, await bigTables(store.db));
    const own = readings.filter(({ statement }) => OWN.test(statement));
    for (const { slowestMs, runs, pages, statement } of own)
      checks.note(`${runs} runs above 200 ms, slowest ${slowestMs.toFixed(0)} ms, ${pages} pages: ${statement}`);
    checks.none(
      'no deletion reads a large table from end to end',
      own.flatMap(({ problems, statement }) => [...problems].map((problem) => `${problem}: ${statement}`)),
    );
  } finally {
    await store.close();
  }
}

/** @returns a line for each month without its partition, or with one that is due. */
export async function wrongPartitions(store: StoreView, at: Date): Promise<string[]> {
  const lines: string[] = [];
  for (const { table, days } of MONTHLY) {
    const rows = await store.rows<{ month: string }>(
      `select replace(right(c.relname, 7), '_', '-') as month from pg_inherits h join pg_class c on c.oid = h.inhrelid
       where h.inhparent = '${table}'::regclass and c.relname <> '${table}_default' order by 1`,
    );
    const months = rows.map(({ month }) => month);
    lines.push(...wrongMonths(table, months, expectedMonths(at, days, AHEAD)));
  }
  return lines;
}

/** Lists the work that vacuum has left in the tables that rows were deleted from. */
export async function vacuumLines(store: StoreView): Promise<string[]> {
  const rows = await store.rows<{ table: string; dead: number; live: number; vacuums: number }>(
    `select relname as table, n_dead_tup::float8 as dead, n_live_tup::float8 as live, autovacuum_count::float8 as vacuums
     from pg_stat_user_tables where schemaname = 'pipeline' and (n_dead_tup > 1000 or autovacuum_count > 0)
     order by n_dead_tup desc limit 12`,
  );
  return rows.map(
    ({ table, dead, live, vacuums }) => `${table}: ${dead} dead rows, ${live} live, ${vacuums} autovacuums`,
  );
}
