import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DAY_MS } from '@pipeline/domain';
import { aggregateRollups, checkDay, checkRollups, deleteOldRollups, unfoldedDeltas } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { clearHistory, simulateHistory } from '@pipeline/testing/history';
import { sql } from 'kysely';

const database = testDatabase();
const END = new Date('2026-03-10T12:34:56Z');
const SIZE = { tenants: 2, repos: 4, days: 6, issues: 150, end: END };
const ALL = {
  from: new Date(END.getTime() - 7 * DAY_MS).toISOString(),
  to: new Date(END.getTime() + DAY_MS).toISOString(),
};
const DAYS = Array.from({ length: 8 }, (_, n) =>
  new Date(Date.parse(ALL.from) + n * DAY_MS).toISOString().slice(0, 10),
);
const wrong = (checks: Awaited<ReturnType<typeof checkRollups>>) =>
  Object.fromEntries(checks.filter((check) => check.wrong > 0).map(({ table, ...rest }) => [table, rest]));

const TABLES = ['state_minutes', 'stay_hours', 'transition_counts', 'task_counts', 'cost_sums', 'event_counts'];
const contents = async () => {
  const all: Record<string, unknown[]> = {};
  for (const table of TABLES) {
    const { rows } = await sql<{ row: string }>`
      select row_to_json(t)::text as row from ${sql.table(table)} t order by 1`.execute(database.db);
    all[table] = rows.map(({ row }) => row);
  }
  return all;
};

async function aggregateAll(): Promise<void> {
  while ((await aggregateRollups(database.store.db)).more);
}

beforeEach(() => {
  database.clock.now = END;
});

describe('in a history of its own', () => {
  afterEach(() => clearHistory(database.db));

  test('rollups plus pending deltas equal the history', async () => {
    await simulateHistory(database.db, { ...SIZE, seed: 11, aggregated: false });
    expect(await unfoldedDeltas(database.store.db)).toBeGreaterThan(1_000);
    expect(wrong(await checkRollups(database.store.db, ALL, false))).toEqual({});
    await aggregateAll();
    expect(await unfoldedDeltas(database.store.db)).toBe(0);
    expect(wrong(await checkRollups(database.store.db, ALL, false))).toEqual({});
  });

  test('a move with a negative time in its state counts as one without time', async () => {
    await simulateHistory(database.db, { ...SIZE, seed: 12, aggregated: false });
    await sql`update rollup_deltas set body = jsonb_set(body, '{moves,0,stay}', '-189')
      where body -> 'moves' -> 0 ->> 'stay' is not null`.execute(database.db);
    await aggregateAll();
    expect(await unfoldedDeltas(database.store.db)).toBe(0);
  });

  test('old rollups are deleted a day at a time, and only those', async () => {
    await simulateHistory(database.db, { ...SIZE, seed: 13 });
    const deleted: number[] = [];
    const other = database.open({
      onStatement: (text) => void (/delete from "state_minutes"/.test(text) && deleted.push(1)),
    });
    database.clock.now = new Date(END.getTime() + 6 * DAY_MS);
    const kept = await sql<{ n: number }>`
      select count(*) as n from state_minutes where minute >= ${new Date(END.getTime() - 3 * DAY_MS).toISOString()}`.execute(
      database.db,
    );
    expect(await deleteOldRollups(other.db)).toBeGreaterThan(100);
    expect(deleted.length).toBeGreaterThan(2);
    const left = await sql<{ n: number }>`select count(*) as n from state_minutes`.execute(database.db);
    expect(left.rows).toEqual(kept.rows);
    expect(left.rows[0]?.n).toBeGreaterThan(0);
    expect(await deleteOldRollups(other.db)).toBe(0);
    await other.close();
  });

  test('aggregation and history give the same sums at every level', async () => {
    await simulateHistory(database.db, { ...SIZE, seed: 12, aggregated: false });
    await aggregateAll();
    const aggregated = await contents();
    await sql`truncate ${sql.join(TABLES.map((table) => sql.table(table)))}`.execute(database.db);
    await checkRollups(database.store.db, ALL, true);
    expect(await contents()).toEqual(aggregated);
  });

  test('days compared one by one, hour by hour, give the same sums', async () => {
    await simulateHistory(database.db, { ...SIZE, seed: 14, aggregated: false });
    await aggregateAll();
    const aggregated = await contents();
    await sql`truncate ${sql.join(TABLES.map((table) => sql.table(table)))}`.execute(database.db);
    for (const day of DAYS) await checkDay(database.store.db, day, true);
    expect(await contents()).toEqual(aggregated);
    for (const day of DAYS) expect(wrong(await checkDay(database.store.db, day, false))).toEqual({});
    await sql`update state_minutes set entered = entered + 1 where minute < ${ALL.to}::timestamptz - interval '2 days'`.execute(
      database.db,
    );
    const found = await Promise.all(DAYS.map((day) => checkDay(database.store.db, day, false)));
    const known = wrong(await checkRollups(database.store.db, ALL, false)).state_minutes?.wrong;
    const counts = found.map((checks) => wrong(checks).state_minutes?.wrong ?? 0);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(known);
    expect(known).toBeGreaterThan(100);
    for (const checks of found) expect(wrong(checks).state_minutes?.examples.length ?? 0).toBeLessThanOrEqual(5);
  });

  test('wrong sums are found and repaired without counting pending deltas twice', async () => {
    await simulateHistory(database.db, { ...SIZE, seed: 13 });
    const right = await contents();
    await sql`update state_minutes set entered = entered + 5 where repo_id <> 0 and state = 'planning'`.execute(
      database.db,
    );
    await sql`delete from cost_sums where agent = 'developer' and grain = 'hour'`.execute(database.db);
    const found = wrong(await checkRollups(database.store.db, ALL, false));
    expect(Object.keys(found).sort()).toEqual(['cost_sums', 'state_minutes']);
    await checkRollups(database.store.db, ALL, true);
    expect(wrong(await checkRollups(database.store.db, ALL, false))).toEqual({});
    expect(await contents()).toEqual(right);
  });

  test('two concurrent aggregations apply each delta once', async () => {
    await simulateHistory(database.db, { ...SIZE, seed: 14, aggregated: false });
    const waiting = await unfoldedDeltas(database.store.db);
    const other = database.open({ applicationName: 'other' });
    const results = await Promise.all([
      aggregateRollups(database.store.db),
      aggregateRollups(other.db),
      aggregateRollups(database.store.db),
    ]);
    await aggregateAll();
    await other.close();
    expect(results.reduce((sum, { aggregated }) => sum + aggregated, 0)).toBeLessThanOrEqual(waiting);
    expect(wrong(await checkRollups(database.store.db, ALL, false))).toEqual({});
  });
});

describe('in a history that each test restores', () => {
  let right: Record<string, unknown[]>;
  beforeAll(async () => {
    database.clock.now = END;
    await simulateHistory(database.db, { ...SIZE, seed: 15 });
    right = await contents();
  });
  afterAll(() => clearHistory(database.db));

  test.each([
    ['a repo', sql`repo_id <> 0`],
    ['a tenant', sql`repo_id = 0 and tenant_id <> 0`],
    ['everything', sql`tenant_id = 0`],
  ])('finds an error at the level of %s and changes no other level', async (_level, where) => {
    await sql`update state_minutes set reached = reached + 1 where state = 'planning' and ${where}`.execute(
      database.db,
    );
    await sql`delete from stay_hours where state = 'planning' and ${where}`.execute(database.db);
    const found = wrong(await checkRollups(database.store.db, ALL, true));
    expect(Object.keys(found).sort()).toEqual(['state_minutes', 'stay_hours']);
    expect(await contents()).toEqual(right);
  });

  test.each(['hour', 'day', 'month'])(
    'sums by the %s that are off are repaired by themselves, from one day alone',
    async (grain) => {
      const stretch = { from: '2026-03-08T00:00:00Z', to: '2026-03-09T00:00:00Z' };
      const at = grain === 'month' ? '2026-03-01T00:00:00Z' : stretch.from;
      await sql`update cost_sums set usd = usd + 1 where grain = ${grain} and at = ${at}`.execute(database.db);
      await sql`delete from event_counts where grain = ${grain} and at = ${at}`.execute(database.db);
      expect(wrong(await checkRollups(database.store.db, stretch, true))).toHaveProperty('cost_sums');
      expect(await contents()).toEqual(right);
    },
  );
});
