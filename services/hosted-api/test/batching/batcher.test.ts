import { expect, test } from '@jest/globals';
import { Batcher } from '../../src/batching/batcher.ts';

type Answer = PromiseSettledResult<string>;

/** A batcher whose batches end when the test says so. */
function held() {
  const batches: { questions: readonly string[]; end(answers: Answer[]): void; fail(error: Error): void }[] = [];
  const batcher = new Batcher<string, string>(
    (questions) => new Promise((end, fail) => void batches.push({ questions, end, fail })),
  );
  return { batches, batcher };
}

const done = (value: string): Answer => ({ status: 'fulfilled', value });
const turn = () => new Promise(setImmediate);

test('what comes in one turn or while some are under way goes together, in order', async () => {
  const { batches, batcher } = held();
  const first = batcher.ask('a');
  await turn();
  const others = ['b', 'c', 'b'].map((question) => batcher.ask(question));
  expect(batches.map(({ questions }) => questions)).toEqual([['a']]);
  batches[0]?.end([done('A')]);
  expect(await first).toBe('A');
  await turn();
  expect(batches[1]?.questions).toEqual(['b', 'c', 'b']);
  batches[1]?.end([done('B1'), done('C'), done('B2')]);
  expect(await Promise.all(others)).toEqual(['B1', 'C', 'B2']);
});

test('one that fails leaves the others of its batch alone; a batch that fails reaches all of it and nobody else', async () => {
  const { batches, batcher } = held();
  const first = batcher.ask('a');
  await turn();
  const second = [batcher.ask('b'), batcher.ask('c')];
  batches[0]?.fail(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  await turn();
  batches[1]?.end([{ status: 'rejected', reason: new Error('bad') }, done('C')]);
  await expect(second[0]).rejects.toThrow('bad');
  expect(await second[1]).toBe('C');
});

test('a line that is held up holds up no other', async () => {
  const { batches, batcher } = held();
  const slow = batcher.ask('a', 'one');
  const quick = batcher.ask('b', 'two');
  await turn();
  batches[1]?.end([done('B')]);
  expect(await quick).toBe('B');
  batches[0]?.end([done('A')]);
  expect(await slow).toBe('A');
});

test('a crowd is served in portions', async () => {
  const { batches, batcher } = held();
  const answers = Array.from({ length: 66 }, (_, n) => batcher.ask(`${n}`));
  for (const size of [64, 2]) {
    // The end of a batch is noticed a turn before the next one begins.
    await turn();
    await turn();
    const batch = batches.at(-1);
    expect(batch?.questions).toHaveLength(size);
    batch?.end(batch.questions.map(done));
  }
  expect(await Promise.all(answers)).toHaveLength(66);
});
