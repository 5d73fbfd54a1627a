import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { CHECK_SUITES, runSuites } from '@pipeline/contract-tests';
import type { TestDatabase } from '@pipeline/testing';
import { until } from '@pipeline/testing/until';
import { sql } from 'kysely';
import { type RowChange, recordedRowChanges, recordRowChanges } from './row-changes.ts';
import { contractTarget, SCRATCH, SELECTION } from './target.ts';

/** The organisation of the credentials has two repos, one of which may be changed; another one has the third. */
const target = contractTarget({ tenants: 2, repos: 3, prepare });

const ALL = { ...SELECTION, suite: [...CHECK_SUITES, 'property' as const], runs: 200 };

/** The services do nothing by themselves for a day that could be taken for an effect of requests. */
const postponeWhatIsDue = ({ db }: Pick<TestDatabase, 'db'>) =>
  sql
    .raw(`
    update pipeline.tasks set lease_expires_at = lease_expires_at + interval '1 day' where lease_expires_at is not null;
    update pipeline.runs set lease_expires_at = lease_expires_at + interval '1 day' where lease_expires_at is not null;
    update pipeline.workers set last_heartbeat_at = last_heartbeat_at + interval '1 day' where status <> 'offline';
    update pipeline.tasks set run_after = run_after + interval '1 day' where run_after is not null;
    update pipeline.issues set auto_unblock_at = auto_unblock_at + interval '1 day' where auto_unblock_at is not null`)
    .execute(db);

/**
 * Another replica leads. The repo of the other organisation gets a name of its own, because two of one name are ambiguous
 * for the monitor.
 */
async function prepare(database: Pick<TestDatabase, 'db'>): Promise<void> {
  await postponeWhatIsDue(database);
  await sql
    .raw(`
    update pipeline.repos set name = 'repo-2', slug_key = 'acme/repo-2' where slug_key = 'acme/repo-1' and tenant_id = 2;
    create or replace function pipeline.take_leader(leader_name text, leader_holder text) returns bigint
      language sql as 'select null::bigint'`)
    .execute(database.db);
}

/** Counts that the services add up from the rows of other tables, some time after those have changed. */
const COUNTS = [
  ...['issue_count_deltas', 'issue_counts', 'closed_facts', 'event_counts', 'task_counts', 'transition_counts'],
  ...['state_minutes', 'stay_hours'],
];

/** Row changes that the use of credentials and the heartbeat of the event stream leave. */
const USE_OF_CREDENTIALS = [
  /^oauth_connections UPDATE (last_used_at|resource)$/,
  /^oauth_tokens (INSERT|DELETE)/,
  /^rate_limits (INSERT|UPDATE)/,
  /^worker_tokens UPDATE last_used_at$/,
];

const describeChange = ({ table, operation, columns }: RowChange): string =>
  [table, operation, columns.join()].filter((part) => part !== '').join(' ');

/** One line for a failure. */
const shown = (change: RowChange): string => `${describeChange(change)} ${JSON.stringify(change.row).slice(0, 200)}`;

const isOwnWork = ({ table, row }: RowChange): boolean =>
  COUNTS.includes(table) || table === 'stream_counter' || (table === 'stream_events' && row.event_type === 'heartbeat');

const isRefusedLogin = ({ table, row }: RowChange): boolean => table === 'audit_log' && row.action === 'login-failed';

/** Changes by requests, other than the use of credentials. */
const changesByRequests = (changes: readonly RowChange[]): RowChange[] =>
  changes.filter(
    (change) =>
      !isOwnWork(change) &&
      !isRefusedLogin(change) &&
      !USE_OF_CREDENTIALS.some((pattern) => pattern.test(describeChange(change))),
  );

const read = async (columns: string, from: string): Promise<unknown[]> => {
  const repo = `(select id from pipeline.repos where slug_key = '${SCRATCH}')`;
  const text = `select ${columns} from pipeline.${from} repo_id = ${repo} order by 1, 2`;
  return (await sql.raw(text).execute(target.database.db)).rows;
};

/** Reads what a run may change in the scratch repo and must restore. */
const restored = async () => ({
  issues: await read('id, state, is_paused, is_blocked', 'issues where'),
  tasks: await read('issue_id, task_type, attempt', 'tasks where'),
  tracks: await read('name, enabled', 'tracks where deleted_at is null and'),
});

/** Recognises rows of the scratch repo, also of tables that name it indirectly. */
async function scratchRows(changes: readonly RowChange[]): Promise<(change: RowChange) => boolean> {
  const { db } = target.database;
  const { id, tenant_id } = (
    await sql<{ id: number; tenant_id: number }>`
      select id, tenant_id from pipeline.repos where slug_key = ${SCRATCH}`.execute(db)
  ).rows[0] ?? { id: -1, tenant_id: -1 };
  const issues = (await read('id, state', 'issues where')).map((row) => (row as { id: number }).id);
  const tracks = changes.filter(({ table, row }) => table === 'tracks' && row.repo_id === id).map(({ row }) => row.id);
  const isOfRepo = ({ table, row }: RowChange): boolean => {
    if ('repo_id' in row) return row.repo_id === id;
    if (table === 'issue_events') return issues.includes(row.issue_id as number);
    if (table === 'track_prompts') return tracks.includes(row.track_id);
    if (table === 'workers') return row.name === 'pipeline-contract' && String(row.repos) === SCRATCH;
    if (table === 'worker_periods') return workers.includes(row.worker_id);
    return ['stream_outbox', 'stream_events'].includes(table) && (row.data as { repo?: string }).repo === SCRATCH;
  };
  const workers = changes.filter((change) => change.table === 'workers' && isOfRepo(change)).map(({ row }) => row.id);
  return (change) => change.row.tenant_id === tenant_id && isOfRepo(change);
}

/** Runs of the loops that act on what is due; one round may make something due for another loop. */
async function roundsOfUpkeep(): Promise<number> {
  const text = await (await fetch(`${target.urls.monitor}/prometheus`)).text();
  const roundsOf = (loop: string) =>
    Number(new RegExp(`^svc_loop_runs_total\\{loop="${loop}",outcome="ok"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return Math.min(...UPKEEP.map(roundsOf));
}
const UPKEEP = ['reclaim', 'stalled', 'worker-silence', 'release-due', 'budgets', 'release-waiting'];

/** Waits until what was due at the start of the services is over. */
beforeAll(async () => {
  await until('the loops have acted on what was due', async () => (await roundsOfUpkeep()) >= 3, 120_000);
  await recordRowChanges(target.database);
}, 130_000);

/** The run of the test before may have left a task that waits for its next attempt. */
beforeEach(async () => {
  await postponeWhatIsDue(target.database);
  await recordedRowChanges(target.database);
});

test('a run changes nothing when --write is not given', async () => {
  const surfaces = await target.open({}, { hasLogin: false });
  await runSuites(surfaces, { ...ALL, write: false });
  const changes = await recordedRowChanges(target.database);
  expect(changes.map(({ table }) => table)).toContain('worker_tokens');
  expect(changesByRequests(changes).map(shown)).toEqual([]);
}, 300_000);

test('a run changes rows of the scratch repo alone and restores it when --write names it', async () => {
  const surfaces = await target.open({}, { hasLogin: false });
  const before = await restored();
  const suite = ALL.suite.filter((name) => name !== 'stream');
  const { checks } = await runSuites(surfaces, { ...ALL, suite, write: SCRATCH });
  const changes = changesByRequests(await recordedRowChanges(target.database));
  const isOfScratch = await scratchRows(changes);
  expect(changes.filter((change) => !isOfScratch(change)).map(shown)).toEqual([]);
  const tables = new Set(changes.map(({ table }) => table));
  for (const table of ['issues', 'tasks', 'runs', 'tracks', 'track_prompts', 'workers'])
    expect(tables).toContain(table);
  const isWriting = ({ suite, name }: (typeof checks)[number]) =>
    suite === 'worker' || suite === 'scratch' || name.endsWith('between two pages');
  expect(checks.filter(isWriting).filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
  expect(await restored()).toEqual(before);
}, 300_000);

test('a run changes connections, sessions and the audit log alone when a user logs in', async () => {
  const surfaces = await target.open();
  await runSuites(surfaces, { ...SELECTION, suite: ['oauth'] });
  const changes = changesByRequests(await recordedRowChanges(target.database));
  const tables = new Set(changes.map(({ table }) => table));
  expect([...tables].sort()).toEqual([
    'audit_log',
    'oauth_artifacts',
    'oauth_clients',
    'oauth_connections',
    'oauth_tokens',
    'user_sessions',
  ]);
}, 300_000);
