import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;

const database = testDatabase();

// While V8 marks the heap in steps, minor collections promote what they would free otherwise; a busy process may be at
// it all the time.
beforeAll(() => setFlagsFromString('--no-incremental-marking'));
afterAll(() => setFlagsFromString('--incremental-marking'));

const SERIES = 5;
const ROUNDS = 101;
const RESULT_OCTETS = 20_000;

/**
 * Counts the octets that a minor collection does not reach: objects that survived two of them, and garbage among these.
 */
const promotedOctets = (): number =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => ['old_space', 'large_object_space'].includes(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);

test('a result that is not referenced is freed by a minor collection', async () => {
  const { tenant } = database.store;
  const read = async () => {
    const { rows } = await sql<{ text: string }>`select repeat('x', ${RESULT_OCTETS}::int) as text`.execute(tenant);
    return rows[0]?.text.length;
  };
  const promotedInRound = async () => {
    const before = promotedOctets();
    expect(await read()).toBe(RESULT_OCTETS);
    for (let n = 0; n < 2; n += 1) collect({ type: 'minor' });
    return promotedOctets() - before;
  };
  // The median: code that V8 compiles meanwhile is promoted too, up to megabytes in a single round, and in a
  // process with many tests also in most rounds of a series: the lowest of several.
  const medians: number[] = [];
  for (let series = 0; series < SERIES; series += 1) {
    collect({ type: 'major' });
    const promoted: number[] = [];
    for (let n = 0; n < ROUNDS; n += 1) promoted.push(await promotedInRound());
    medians.push(promoted.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0);
  }
  expect(Math.min(...medians)).toBeLessThan(RESULT_OCTETS / 3);
});
