import { expect, test } from '@jest/globals';
import { DAY_MS } from '@pipeline/domain';
import type { RawBuilder } from 'kysely';
import { newestRows, type RowCount } from '../../src/driver/newest-rows.ts';

const PAGE = 50;

/**
 * Returns, for each window that was read, whether it had a beginning; the reads return so many rows, one after the
 * other.
 */
async function windowsRead(found: readonly number[], wanted: { offset?: number; among?: RowCount } = {}) {
  const hadBeginning: boolean[] = [];
  const rows = await newestRows(null, { page: PAGE, ...wanted }, async (from: RawBuilder<unknown> | null) => {
    hadBeginning.push(from !== null);
    return Array.from({ length: found[hadBeginning.length - 1] ?? 0 });
  });
  return { hadBeginning, rows: rows.length };
}

const over27Days = (total: number): RowCount => ({ total, withinMs: 27 * DAY_MS });

test('longer windows are read until one holds a full page', async () => {
  expect(await windowsRead([3, 49, 50])).toEqual({ hadBeginning: [true, true, true], rows: 50 });
});

test('the last window has no beginning, and its rows are all that there are', async () => {
  const all = await windowsRead([0, 0, 0, 0, 0, 7]);
  expect(all).toEqual({ hadBeginning: [true, true, true, true, true, false], rows: 7 });
});

test.each([
  ['no row', { among: over27Days(0) }],
  ['fewer rows than a page', { among: over27Days(49) }],
  ['no row of an unknown time', { among: { total: 0, withinMs: 0 } }],
  ['fewer rows than the offset', { offset: 1_000, among: over27Days(900) }],
])('one read without a beginning where the history holds %s', async (_history, wanted) => {
  expect(await windowsRead([7], wanted)).toEqual({ hadBeginning: [false], rows: 7 });
});

test('windows too short for the mean rate of the rows are left out', async () => {
  const rare = await windowsRead([50], { among: over27Days(97) });
  expect(rare).toEqual({ hadBeginning: [true], rows: 50 });
  const tries = async (total: number) => (await windowsRead([], { among: over27Days(total) })).hadBeginning.length;
  expect(await Promise.all([97, 1_000, 30_000, 1_000_000, 10_000_000].map(tries))).toEqual([2, 3, 4, 5, 6]);
});

test('windows go on where the newest rows are rarer than the mean', async () => {
  const slowed = await windowsRead([2, 2, 50], { among: over27Days(30_000) });
  expect(slowed).toEqual({ hadBeginning: [true, true, true], rows: 50 });
});
