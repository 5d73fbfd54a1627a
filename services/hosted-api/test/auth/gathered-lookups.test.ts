import { expect, test } from '@jest/globals';
import { GatheredLookups } from '../../src/auth/connection-tokens.ts';

/** Look-ups that end when the test ends them. */
function held() {
  const calls: { keys: readonly string[]; end(found: Record<string, number>): void; fail(error: Error): void }[] = [];
  const lookups = new GatheredLookups<number>(
    (keys) =>
      new Promise((resolve, reject) => {
        calls.push({ keys, end: (found) => resolve(new Map(Object.entries(found))), fail: reject });
      }),
  );
  return { calls, lookups };
}

const turn = () => new Promise(setImmediate);

test('looks up each key once when keys arrive in one turn or while a look-up is in flight', async () => {
  const { calls, lookups } = held();
  const first = lookups.find('a');
  const beside = lookups.find('c');
  expect(calls).toEqual([]);
  await turn();
  const others = ['b', 'a', 'b'].map((key) => lookups.find(key));
  expect(calls.map(({ keys }) => keys)).toEqual([['a', 'c']]);
  calls[0]?.end({ a: 1, c: 3 });
  expect(await Promise.all([first, beside])).toEqual([1, 3]);
  await turn();
  expect(calls[1]?.keys).toEqual(['b', 'a']);
  calls[1]?.end({ a: 2 });
  // Later requests get the result of a later look-up.
  expect(await Promise.all(others)).toEqual([undefined, 2, undefined]);
});

test('rejects only the keys of a look-up that fails', async () => {
  const { calls, lookups } = held();
  const first = lookups.find('a');
  await turn();
  const second = lookups.find('b');
  calls[0]?.fail(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  await turn();
  calls[1]?.end({ b: 2 });
  expect(await second).toBe(2);
  const third = lookups.find('c');
  await turn();
  calls[2]?.end({ c: 3 });
  expect(await third).toBe(3);
});
