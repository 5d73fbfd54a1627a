import { expect, test } from '@jest/globals';
import { deleteOldRuns } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { simulateHistory } from '@pipeline/testing/history';
import { MIGRATIONS } from '../../src/schema/migrations/index.ts';

const database = testDatabase();
const END = new Date('2026-03-10T12:34:56Z');

test('ends the cancelled runs of earlier releases with their lease, so that retention deletes them', async () => {
  const { db } = database;
  database.clock.now = END;
  await simulateHistory(db, { tenants: 1, repos: 2, days: 3, issues: 40, end: END, seed: 56 });
  const cancelled = () =>
    db.selectFrom('runs').select(['finished_at', 'lease_expires_at']).where('status', '=', 'cancelled').execute();
  await db.updateTable('runs').set({ finished_at: null }).where('status', '=', 'cancelled').execute();
  const before = await cancelled();
  expect(before.length).toBeGreaterThan(0);
  await MIGRATIONS['0056-end-of-cancelled-runs']?.up(db as never);
  const ends = (await cancelled()).map(({ finished_at }) => finished_at).sort();
  expect(ends).toEqual(before.map(({ lease_expires_at }) => lease_expires_at).sort());
  database.clock.now = new Date('2026-12-31T00:00:00Z');
  while (await deleteOldRuns(database.store.fleet, 90));
  expect(await cancelled()).toEqual([]);
});
