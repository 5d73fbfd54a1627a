import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;

const database = testDatabase();

const ROUNDS = 300;
const RESULT_OCTETS = 20_000;

/** What a minor collection does not reach: objects that survived two of them, and garbage among these. */
const promotedOctets = (): number =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => ['old_space', 'large_object_space'].includes(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);

test('a result that nobody holds is freed by a minor collection', async () => {
  const { tenant } = database.store;
  const read = async () => {
    const { rows } = await sql<{ text: string }>`select repeat('x', ${RESULT_OCTETS}::int) as text`.execute(tenant);
    return rows[0]?.text.length;
  };
  const round = async () => {
    expect(await read()).toBe(RESULT_OCTETS);
    for (let n = 0; n < 2; n += 1) collect({ type: 'minor' });
  };
  await round();
  const before = promotedOctets();
  for (let n = 0; n < ROUNDS; n += 1) await round();
  expect(promotedOctets() - before).toBeLessThan((ROUNDS * RESULT_OCTETS) / 3);
});
