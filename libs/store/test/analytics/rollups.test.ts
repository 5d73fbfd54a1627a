import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DAY_MS } from '@pipeline/domain';
import { closeFacts, countDone, deleteOldRollups } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { clearHistory, simulateHistory } from '@pipeline/testing/history';
import { sql } from 'kysely';

const database = testDatabase();
const END = new Date('2026-03-10T12:34:56Z');
const SIZE = { tenants: 2, repos: 4, days: 6, issues: 150, end: END };
const WHOLE = 7 * 24;

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
const closedUntil = async () => {
  const rows = await database.db.selectFrom('closed_facts').select(['facts', 'until']).execute();
  return Object.fromEntries(rows.map(({ facts, until }) => [facts, until.slice(11, 19)]));
};

beforeEach(() => {
  database.clock.now = END;
});
afterEach(() => clearHistory(database.db));

test('adds each fact once when several processes close them step by step', async () => {
  await simulateHistory(database.db, { ...SIZE, seed: 14 });
  const atOnce = await contents();
  for (const table of [...TABLES, 'closed_facts']) await sql`delete from ${sql.table(table)}`.execute(database.db);
  const other = database.open({ applicationName: 'other' });
  const closeAll = async ({ db }: typeof other) => {
    for (let more = true; more; more = (await closedUntil()).moves !== '12:29:56') await closeFacts(db);
  };
  await Promise.all([closeAll(database.store), closeAll(other), closeAll(database.store)]);
  await other.close();
  expect(await contents()).toEqual(atOnce);
});

test('closes facts that are five minutes old, and costs by the hour', async () => {
  await simulateHistory(database.db, { ...SIZE, seed: 11 });
  expect(await closedUntil()).toEqual({ moves: '12:29:56', events: '12:29:56', costs: '12:00:00' });
  database.clock.now = new Date('2026-03-10T13:04:59Z');
  expect(await closeFacts(database.store.db)).toBe(false);
  expect(await closedUntil()).toEqual({ moves: '12:59:59', events: '12:59:59', costs: '12:00:00' });
  database.clock.now = new Date('2026-03-10T13:05:00Z');
  expect(await closeFacts(database.store.db)).toBe(false);
  expect(await closedUntil()).toEqual({ moves: '13:00:00', events: '13:00:00', costs: '13:00:00' });
});

test('closes nothing in a store without a fact', async () => {
  expect(await closeFacts(database.store.db, WHOLE)).toBe(false);
  expect(await closedUntil()).toEqual({});
});

test('counts a stay as one without time when its time is negative', async () => {
  await simulateHistory(database.db, { ...SIZE, seed: 12, aggregated: false });
  await sql`update transitions set duration_in_from_ms = -189`.execute(database.db);
  await closeFacts(database.store.db, WHOLE);
  const { rows } = await sql`select distinct bucket from stay_hours`.execute(database.db);
  expect(rows).toEqual([{ bucket: 0 }]);
});

test('deletes old rollups a day at a time, and only those', async () => {
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

test('makes no rows that retention would delete when old hours are closed', async () => {
  await simulateHistory(database.db, { ...SIZE, seed: 13, aggregated: false });
  database.clock.now = new Date(END.getTime() + 6 * DAY_MS);
  await closeFacts(database.store.db, WHOLE);
  expect(await deleteOldRollups(database.store.db)).toBe(0);
  expect(await countDone(database.store.db, { tenantId: null, repoId: null }, new Date(END))).toBe(0);
});
