import { mkdir } from 'node:fs/promises';
import { monitorSurface } from '@pipeline/contract';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { type Engine, runDetectors, watchKpis } from '@pipeline/engine';
import type { Store } from '@pipeline/store';
import { type Rows, readRows } from '@pipeline/testing/oracle';
import { sql } from 'kysely';
import { type Checks, seconds } from '../checks.ts';
import type { E2e } from '../journey.ts';
import { askMonitor } from './ask-monitor.ts';
import { Asker } from './asker.ts';
import { type Filled, filled, storeAt } from './filled.ts';
import { bigTables, EXPLAINED, readingsIn } from './plans.ts';
import { frozenUrl, startService } from './service.ts';
import { checkVariety } from './variety.ts';

/** Endpoints without figures: a file, a stream, readiness (the store is read-only), and those that need a strategy. */
const LEFT_OUT = ['getReadiness', 'streamEvents', 'readStrategySnapshot', 'getAsset', 'readTrackPrompt'];

/** Fills a store with a month of a whole deployment; every metric of the monitor equals the one computed from the rows. */
export async function history({ checks, dataDir, seed, env, issues }: E2e): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const made = await filled(dataDir, { seed, issues });
  const store = storeAt(made.server.url);
  try {
    if (made.madeInMs !== null) checks.note(`the history was made in ${seconds(made.madeInMs)}`);
    const took = await prepare(store);
    checks.note(
      `the guard looked at every repo in ${seconds(took.guardMs)}, detectors in ${seconds(took.detectorsMs)}`,
    );
    const rows = await read(checks, store);
    await compared({ checks, made, dataDir, env, store, rows, isFull: issues === null });
    if (issues === null) await checkPlans(checks, store, made.server.logFile);
  } finally {
    await store.close();
    await made.server.stop();
  }
}

async function read(checks: Checks, { db }: Store): Promise<Rows> {
  const began = performance.now();
  const rows = await readRows(db);
  const count = Object.values(rows).reduce((sum, list) => sum + list.length, 0);
  const memory = Math.round(process.memoryUsage.rss() / 1e6);
  checks.note(`${count} rows read in ${seconds(performance.now() - began)}, ${memory} MB`);
  return rows;
}

interface Compared {
  checks: Checks;
  made: Filled;
  dataDir: string;
  env: NodeJS.ProcessEnv;
  store: Store;
  rows: Rows;
  isFull: boolean;
}

async function compared({ checks, made, dataDir, env, store, rows, isFull }: Compared): Promise<void> {
  const { server, history } = made;
  const databaseUrl = frozenUrl(server.url, history.end, EXPLAINED);
  const monitor = await startService({
    name: 'monitor',
    databaseUrl,
    dataDir,
    env: { PATH: env.PATH, REQUESTS_PER_MINUTE: '0' },
  });
  try {
    const asker = new Asker(monitorSurface, monitor.url);
    await askMonitor({ asker, store, rows, now: history.end.getTime() }).finally(() => asker.report(checks, LEFT_OUT));
    if (isFull) await checkVariety(checks, store.db, asker);
  } finally {
    await monitor.stop();
  }
}

/** Statements that read a big table from end to end, or throw away most of what they read. */
async function checkPlans(checks: Checks, { db }: Store, logFile: string): Promise<void> {
  const readings = await readingsIn(logFile, await bigTables(db));
  checks.note(`${readings.length} statements took a millisecond or more; those that looked at most:`);
  for (const { pages, slowestMs, runs, statement } of readings.toSorted((a, b) => b.pages - a.pages).slice(0, 25))
    checks.note(
      `${String(pages).padStart(8)} pages ${slowestMs.toFixed(0).padStart(6)} ms ${String(runs).padStart(5)} runs  ${statement}`,
    );
  const wrong = readings.flatMap(({ problems, application, statement }) =>
    [...problems].map((problem) => `${problem} (${application}): ${statement}`),
  );
  checks.none('no statement reads a big table from end to end, or much more than it needs', wrong);
}

/**
 * Writes what the loops of a monitor derive from a history: KPIs and alerts. @returns how long the guard took, in ms.
 */
async function prepare(store: Store): Promise<{ guardMs: number; detectorsMs: number }> {
  const engine: Engine = { store, notify: () => undefined, settings: () => DEFAULT_SETTINGS, random: Math.random };
  const began = performance.now();
  while ((await watchKpis(engine)).more);
  const guarded = performance.now();
  const failed = await runDetectors(engine, { driftByRepo: null, limitedMinutes: new Map() }, { refresh: true });
  const [first] = failed;
  if (first) throw new Error(`the detector ${first.detector} failed`, { cause: first.error });
  const done = performance.now();
  await sql`analyze`.execute(store.db);
  return { guardMs: guarded - began, detectorsMs: done - guarded };
}
