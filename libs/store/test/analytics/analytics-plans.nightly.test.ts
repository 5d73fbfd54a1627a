import { beforeAll, expect, test } from '@jest/globals';
import { bucketEnds, DAY_MS, type Window, windowRange } from '@pipeline/domain';
import { testDatabase } from '@pipeline/testing';
import { type History, simulateHistory } from '@pipeline/testing/history';
import { sql } from 'kysely';
import {
  type AnalyticsScope,
  agentScores,
  costSummary,
  countDone,
  countEvents,
  type Db,
  eventPage,
  inTransaction,
  medianDwellTimes,
  mergedIssues,
  mergedPullRequests,
  type OrgScope,
  reachedStates,
  reliabilityByRepo,
  repoOverview,
  retrospectiveCounts,
  spentByModel,
  spentByRepoAndAgent,
  stateChanges,
} from '../../src/index.ts';

const database = testDatabase();
const END = new Date('2026-03-10T12:34:56Z');
let history: History;

/** A long history, of which the queries need a small part. */
beforeAll(async () => {
  database.clock.now = END;
  history = await simulateHistory(database.db, { tenants: 3, repos: 9, days: 300, issues: 2_500, seed: 1, end: END });
}, 900_000);

/** Tables that grow with the history. Rollups and deltas are aggregated; small tables are read completely. */
const GROWING =
  '^(transitions|issues|runs|agent_invocations|pull_requests|(pipeline_events|cost_events|issue_events)(_\\w+)?)$';

/** Cost sums grow too; a query for one organisation finds them by its repos. */
const SUMS = `${GROWING}|^cost_sums$`;

/** History tables that a statement scanned sequentially. */
async function readWhole(read: (db: Db) => Promise<unknown>, tables = GROWING): Promise<string[]> {
  return inTransaction(database.db, async (tx) => {
    // Reads of parallel workers are not counted here.
    await sql`set local max_parallel_workers_per_gather = 0`.execute(tx);
    const before = await scans(tx, tables);
    await read(tx);
    return [...(await scans(tx, tables))].filter(([name, n]) => n > (before.get(name) ?? 0)).map(([name]) => name);
  });
}

/** Sequential scans by this connection that are not flushed to the statistics yet. */
async function scans(db: Db, tables: string): Promise<Map<string, number>> {
  const { rows } = await sql<{ name: string; n: number }>`
    select c.relname as name, pg_stat_get_xact_numscans(c.oid) as n from pg_class c
    where c.relnamespace = 'pipeline'::regnamespace and c.relkind = 'r' and c.relname ~ ${tables}
      and c.reltuples > 1000`.execute(db);
  return new Map(rows.map(({ name, n }) => [name, n]));
}

const since = (window: Window) => windowRange(window, END).start;
const day = windowRange('24h', END);
const week = windowRange('7d', END);
const READS: Record<string, (db: Db, scope: AnalyticsScope) => Promise<unknown>> = {
  'states over time': (db, scope) => stateChanges(db, scope, bucketEnds(week, 48)),
  'states by the second': (db, scope) => stateChanges(db, scope, bucketEnds(windowRange('1h', END), 168)),
  funnel: (db, scope) => reachedStates(db, scope, since('7d')),
  'medians of stays': (db, scope) => medianDwellTimes(db, scope, { since: since('24h') }),
  'stays of a long window, one by one': (db, scope) =>
    medianDwellTimes(db, scope, { since: new Date(END.getTime() - 60 * DAY_MS), exactUpTo: 1_000_000 }),
  throughput: (db, scope) => countDone(db, scope, since('7d')),
  autonomy: (db, scope) => mergedIssues(db, scope, { before: new Date(day.start.getTime() - DAY_MS), ...day }),
  attribution: (db, scope) => mergedPullRequests(db, scope, week),
  'costs by repo and agent': (db, scope) =>
    spentByRepoAndAgent(db, scope, { day: day.start, week: week.start, always: null }),
  'costs by model': (db, scope) => spentByModel(db, scope, week.start),
  reliability: (db, scope) => reliabilityByRepo(db, scope, since('24h')),
  'scores of agents': (db, scope) => agentScores(db, scope, { ...week, comparedOnly: false }),
  'scores of compared agents': (db, scope) => agentScores(db, scope, { ...week, comparedOnly: true }),
  retrospectives: (db, scope) => retrospectiveCounts(db, scope, week.start),
  'newest events': (db, scope) => eventPage(db, { ...scope, issue: null, type: null }, { limit: 50, offset: 0 }),
  'events of a rare type': (db, scope) =>
    eventPage(db, { ...scope, issue: null, type: 'operator_action' }, { limit: 50, offset: 0 }),
  'events of an issue': (db, scope) => eventPage(db, { ...scope, issue: 7, type: null }, { limit: 50, offset: 0 }),
  'count of events': (db, scope) => countEvents(db, { ...scope, issue: null, type: null }),
  'count of the events of an issue': (db, scope) => countEvents(db, { ...scope, issue: 7, type: null }),
};

test.each(Object.keys(READS))('%s: scans no history table', async (name) => {
  const read = READS[name];
  if (!read) throw new Error(`there is no read ${name}`);
  const [repo] = history.repos;
  const scopes: AnalyticsScope[] = [
    { tenantId: null, repoId: null },
    { tenantId: repo?.tenantId ?? 0, repoId: null },
    { tenantId: repo?.tenantId ?? 0, repoId: repo?.id ?? 0 },
  ];
  for (const scope of scopes) expect(await readWhole((db) => read(db, scope))).toEqual([]);
});

test('costs of an organisation: scans neither cost events nor rollups', async () => {
  const [repo] = history.repos;
  const tenantId = repo?.tenantId ?? 0;
  const times = { silenceMs: 30_000, dayStart: '2026-03-10T00:00:00Z' };
  for (const repoIds of [null, [repo?.id ?? 0]]) {
    const reach = { tenantId, repoIds, userId: 1, role: 'owner' } as unknown as OrgScope;
    for (const slug of [undefined, repo?.slug])
      expect(await readWhole((db) => costSummary(db, reach, { dayStart: times.dayStart, slug }), SUMS)).toEqual([]);
    expect(await readWhole((db) => repoOverview(db, reach, repo?.slug ?? '', times), SUMS)).toEqual([]);
  }
});

test('detects a full table scan', async () => {
  const whole = await readWhole((db) => sql`select count(payload) from pipeline_events`.execute(db));
  expect(whole.length).toBeGreaterThan(5);
});
