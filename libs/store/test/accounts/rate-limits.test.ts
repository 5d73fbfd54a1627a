import { expect, test } from '@jest/globals';
import { takePoint } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';

const database = testDatabase();

test('the window of a key ends a fixed time after its first point when more points are taken', async () => {
  const start = Date.parse('2026-03-01T00:00:00Z');
  const takeAt = (second: number) => {
    database.clock.now = new Date(start + second * 1_000);
    return takePoint(database.store.db, 'login address 192.0.2.1', 60_000);
  };
  expect(await takeAt(0)).toEqual({ points: 1, msLeft: 60_000 });
  expect(await takeAt(59)).toEqual({ points: 2, msLeft: 1_000 });
  expect(await takeAt(60)).toEqual({ points: 1, msLeft: 60_000 });
});
