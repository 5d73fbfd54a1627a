import { expect, test } from '@jest/globals';
import { Gathering } from '../../src/outbox/gathering.ts';

/** Longer than any test. */
const NEVER_MS = 600_000;

/** Joins, and records the name once it continues. */
function joiner(gathering: Gathering) {
  const continued: string[] = [];
  const join = async (name: string, inFlight: number) => {
    await gathering.join(inFlight);
    continued.push(name);
  };
  return { continued, join };
}

test('continues at once when nothing else, or one other, is in flight', async () => {
  const { continued, join } = joiner(new Gathering(NEVER_MS));
  await join('alone', 1);
  await join('one of two', 2);
  expect(continued).toEqual(['alone', 'one of two']);
});

test('continues in one turn when half of the work in flight has arrived', async () => {
  const { continued, join } = joiner(new Gathering(NEVER_MS));
  const first = join('first', 6);
  const second = join('second', 6);
  await new Promise(setImmediate);
  expect(continued).toEqual([]);
  await Promise.all([first, second, join('third', 6)]);
  expect(continued).toEqual(['first', 'second', 'third']);
});

test('continues when too few arrive in time, and gathers again', async () => {
  const { continued, join } = joiner(new Gathering(1));
  await join('first', 8);
  await join('second', 8);
  expect(continued).toEqual(['first', 'second']);
});
