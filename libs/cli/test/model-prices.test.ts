import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { cliOn } from './cli.ts';

const database = testDatabase();
const cli = cliOn(() => database.url);
const price = (...args: string[]) => ['admin', 'price', ...args];

test('a price is set, changed whatever the case of its name, listed and removed', async () => {
  const seeded = await cli.json<unknown[]>(price('list'));
  const set = price('set', 'Our-Model*', '--input', '2', '--output', '8.5');
  expect(await cli.json([...set, '--cache-read', '0.2', '--as', 'olga'])).toEqual({
    pattern: 'our-model*',
    inputUsd: 2,
    outputUsd: 8.5,
    cacheReadUsd: 0.2,
    cacheWriteUsd: 2,
  });
  await cli.json(price('set', 'our-MODEL*', '--input', '3', '--output', '9'));
  const listed = await cli.json<{ pattern: string }[]>(price('list'));
  expect(listed).toHaveLength(seeded.length + 1);
  expect(listed).toContainEqual({
    pattern: 'our-model*',
    inputUsd: 3,
    outputUsd: 9,
    cacheReadUsd: 3,
    cacheWriteUsd: 3,
  });
  expect((await cli.run(price('list'))).stdout).toMatch(/^our-model\* +3 +9 +3 +3$/m);
  expect(await cli.json(price('remove', 'OUR-model*'))).toEqual({ removed: 'our-model*' });
  expect(await cli.refusal(price('remove', 'our-model*'))).toEqual({
    code: 'NOT_FOUND',
    message: 'there is no price of our-model*; pipeline admin price list shows all',
  });
  const entries = await cli.json<{ action: string; actor: string }[]>(['admin', 'audit', 'list']);
  expect(entries.map(({ action }) => action)).toEqual(['model-price-remove', 'model-price-set', 'model-price-set']);
  expect(entries[2]?.actor).toBe('olga');
});

test.each([
  [['set', 'a*b', '--input', '1', '--output', '1'], 'pattern must be a model name, or a prefix followed by *'],
  [['set', '', '--input', '1', '--output', '1'], 'pattern must be a model name'],
  [['set', 'a', '--input', '1000000', '--output', '1'], 'inputUsd must be a number from 0 to 999999'],
])('%j is refused', async (args, message) => {
  expect((await cli.refusal(price(...args))).message).toContain(message);
});

test('an invalid amount is wrong usage', async () => {
  const { code, stderr } = await cli.run(price('set', 'a', '--input', '-1', '--output', '1'));
  expect([code, stderr]).toEqual([2, expect.stringContaining('--input must be a number of US dollars')]);
});
