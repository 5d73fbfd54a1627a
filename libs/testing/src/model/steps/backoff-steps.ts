import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { World } from '../world/world.ts';
import type { Step } from './step.ts';
import { NOTHING } from './verdict.ts';
import { ERRORS, fails, hurried, take } from './worker.ts';

/** A task fails, and while it waits to be retried its issue is paused and resumed: it waits on. */
async function run(world: World, [message, errorClass]: (typeof ERRORS)[number]) {
  const held = await take(world, world.workers[0] ?? '');
  if (!held) return NOTHING;
  const verdict = await fails(world, held, [message, errorClass]);
  if (verdict !== NOTHING) return verdict;
  const number = held.task.issueNumber ?? 0;
  await world.acts.act(number, 'pause');
  await world.acts.act(number, 'resume');
  expect(await hurried(world, held)).toEqual([]);
  return { moves: [number], certain: { number, paused: false } };
}

export const BACKOFF_STEPS: fc.Arbitrary<Step> = fc.constantFrom(...ERRORS).map((error) => ({
  name: 'resumeInBackoff',
  data: error,
  onIssue: true,
  run: (_model, world) => run(world, error),
}));
