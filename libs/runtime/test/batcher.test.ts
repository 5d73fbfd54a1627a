import { expect, test } from '@jest/globals';
import { Batcher } from '../src/batcher.ts';

type Result = PromiseSettledResult<string>;

/** A batcher whose batches end when the test ends them. */
function held() {
  const batches: { requests: readonly string[]; end(results: Result[]): void; fail(error: Error): void }[] = [];
  const batcher = new Batcher<string, string>(
    (requests) => new Promise((end, fail) => void batches.push({ requests, end, fail })),
  );
  return { batches, batcher };
}

const done = (value: string): Result => ({ status: 'fulfilled', value });
const turn = () => new Promise(setImmediate);

test('serves requests together, in order, when they arrive in one turn or while a batch is in flight', async () => {
  const { batches, batcher } = held();
  const first = batcher.submit('a');
  await turn();
  const others = ['b', 'c', 'b'].map((request) => batcher.submit(request));
  expect(batches.map(({ requests }) => requests)).toEqual([['a']]);
  batches[0]?.end([done('A')]);
  expect(await first).toBe('A');
  await turn();
  expect(batches[1]?.requests).toEqual(['b', 'c', 'b']);
  batches[1]?.end([done('B1'), done('C'), done('B2')]);
  expect(await Promise.all(others)).toEqual(['B1', 'C', 'B2']);
});

test('rejects only the requests of a batch that fails, and only the one that fails within a batch', async () => {
  const { batches, batcher } = held();
  const first = batcher.submit('a');
  await turn();
  const second = [batcher.submit('b'), batcher.submit('c')];
  batches[0]?.fail(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  await turn();
  batches[1]?.end([{ status: 'rejected', reason: new Error('bad') }, done('C')]);
  await expect(second[0]).rejects.toThrow('bad');
  expect(await second[1]).toBe('C');
});

test('serves a lane when a batch of another lane is in flight', async () => {
  const { batches, batcher } = held();
  const slow = batcher.submit('a', 'one');
  const quick = batcher.submit('b', 'two');
  await turn();
  batches[1]?.end([done('B')]);
  expect(await quick).toBe('B');
  batches[0]?.end([done('A')]);
  expect(await slow).toBe('A');
});

test('splits a batch when more than 64 requests wait', async () => {
  const { batches, batcher } = held();
  const results = Array.from({ length: 66 }, (_, n) => batcher.submit(`${n}`));
  for (const size of [64, 2]) {
    // The end of a batch is noticed a turn before the next one begins.
    await turn();
    await turn();
    const batch = batches.at(-1);
    expect(batch?.requests).toHaveLength(size);
    batch?.end(batch.requests.map(done));
  }
  expect(await Promise.all(results)).toHaveLength(66);
});
