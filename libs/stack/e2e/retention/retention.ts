import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '@pipeline/local-postgres';
import { seconds } from '../checks.ts';
import { type Deployment, startDeployment } from '../deployment/deployment.ts';
import { SETTINGS } from '../history/filled.ts';
import { LOG_PREFIX } from '../history/plans.ts';
import type { E2e } from '../journey.ts';
import { poll } from '../poll.ts';
import { StoreView } from '../store-view.ts';
import { answersAt, changedAnswers } from './answers.ts';
import { type Filled, fill, fillUnsettled } from './fill.ts';
import { RETAINED } from './retained.ts';
import { linesOf, perMillion, type Size, sizesOf, totalMib } from './sizes.ts';
import { dueRows, keptRows, type SnapshotOptions } from './snapshot.ts';
import { prepareStatements } from './statements.ts';
import { FOREVER, type Scene, underLoad, vacuumLines, WITHIN_MS, wrongPartitions } from './under-load.ts';
import { leftRows, lostRows } from './verdict.ts';

const EVENTS = 10_000_000;
const CONNECT_WITHIN_MS = 30_000;

/** Server settings as in production, with memory for the machine of the run. */
const MEASURED = {
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  random_page_cost: '1.1',
  shared_preload_libraries: 'pg_stat_statements,auto_explain',
  log_line_prefix: LOG_PREFIX,
  log_lock_waits: 'on',
  deadlock_timeout: '50ms',
  'auto_explain.log_min_duration': '200',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
};

/**
 * Months of history fall due while the product is in use: partitions are dropped, rows deleted, without an effect on
 * users.
 */
export async function retention(e2e: E2e): Promise<void> {
  const { checks, dataDir, seed, events } = e2e;
  await mkdir(dataDir, { recursive: true });
  const folder = { dataDir: join(dataDir, 'server'), port: 0 };
  let server = await startPostgres({ ...folder, settings: { ...SETTINGS, work_mem: '64MB' } });
  try {
    const began = performance.now();
    const note = (text: string) => checks.note(`${seconds(performance.now() - began)}: ${text}`);
    const filled = await fill({ url: server.url, events: events ?? EVENTS, seed, end: new Date(), note });
    checks.note(`filled in ${seconds(performance.now() - began)}`);
    await server.stop();
    server = await startPostgres({ ...folder, settings: MEASURED });
    await withDeployment(e2e, server, filled);
  } finally {
    await server.stop();
  }
}

async function withDeployment(e2e: E2e, server: PostgresServer, filled: Filled): Promise<void> {
  const { checks } = e2e;
  const store = new StoreView(server.url, CONNECT_WITHIN_MS);
  const deployment = await startDeployment({
    folder: join(e2e.dataDir, 'config'),
    ownerUrl: server.url,
    replicas: 1,
    env: { DATABASE_URL: server.url, METRICS_PORT: '0' },
    settings: FOREVER,
  });
  const scene: Scene = { ...e2e, server, store, filled, deployment };
  try {
    await prepareStatements(store);
    await poll('the first round of the retention', async () => (await rounds(deployment)) > 0, { withinMs: WITHIN_MS });
    await fillUnsettled(server.url, filled);
    const before = await sizesOf(store);
    for (const line of linesOf(perMillion(before, rowsPerIssue(filled)))) checks.note(line);
    await compared(scene, before);
  } finally {
    await deployment.stop();
  }
}

/** Rows that an issue leaves in a table; one webhook comes for each event. */
const rowsPerIssue =
  ({ templateRows }: Filled) =>
  (table: string): number | null => {
    const rows = templateRows[table === 'webhook_deliveries' ? 'pipeline_events' : table];
    return rows === undefined ? null : rows / (templateRows.issues ?? 1);
  };

/** Rounds of the loop that have ended. */
async function rounds({ monitors: [monitor] }: Deployment): Promise<number> {
  const url = monitor?.metricsUrl();
  if (!url) return 0;
  const text = await (await fetch(url)).text();
  return Number(/^svc_loop_runs_total\{loop="retention",outcome="\w+"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

async function compared(scene: Scene, before: readonly Size[]): Promise<void> {
  const { checks, store, server, dataDir, filled, env } = scene;
  const at = new Date();
  const options: SnapshotOptions = { end: filled.end, at, tenantIds: filled.tenantIds };
  const asking = { databaseUrl: server.url, dataDir, path: env.PATH, filled };
  const answers = await answersAt(asking);
  const kept = await keptRows(store, options);
  const due = await dueRows(store, options);
  for (const { what, rows } of due) checks.note(`due: ${rows} ${what}`);
  checks.that(
    'rows of each table are due',
    RETAINED.every(({ table }) => due.some(({ what, rows }) => what === table && rows > 0)),
    due,
  );
  await underLoad(scene, options);
  const left = await dueRows(store, options);
  checks.none('nothing that was due is left', leftRows(left));
  checks.none('no row that is kept is lost', lostRows(kept, await keptRows(store, options)));
  checks.none(
    `${answers.size} answers of the analytics are the same`,
    changedAnswers(answers, await answersAt(asking)),
  );
  checks.none('there is a partition for each kept month and three more', await wrongPartitions(store, at));
  const after = await sizesOf(store);
  checks.note(`tables and indexes: ${totalMib(before).toFixed(0)} MiB before, ${totalMib(after).toFixed(0)} MiB after`);
  for (const line of await vacuumLines(store)) checks.note(line);
}
