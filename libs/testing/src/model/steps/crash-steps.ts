import { OUTCOMES_OF } from '@pipeline/domain';
import fc from 'fast-check';
import type { Moment } from '../world/acts.ts';
import type { World } from '../world/world.ts';
import { outbox } from './passes.ts';
import type { Step } from './step.ts';
import { NOTHING } from './verdict.ts';
import { finish, take } from './worker.ts';

const SPLIT = OUTCOMES_OF.analyze.indexOf('split');

/** The executor crashes after the host has created the subtasks and before that is recorded. */
async function run(world: World) {
  const held = await take(world, world.workers[0] ?? '');
  if (!held) return NOTHING;
  const outcome = held.task.taskType === 'analyze' ? SPLIT : 0;
  await finish(world, held, { outcome, usd: 1, blocking: false });
  for (let lane = 0; lane < 2; lane += 1) await outbox(world, 100, 'before the record', 100);
  return { moves: 'all' as const };
}

const crashesAfterWrites: fc.Arbitrary<Step> = fc.constant({
  name: 'crashAfterWrites',
  data: null,
  onIssue: true,
  run: (_model, world) => run(world),
});

/** The next called process crashes. */
const crashes: fc.Arbitrary<Step> = fc
  .constantFrom<Moment>('before the commit', 'after the commit', 'after the commit')
  .map((moment) => ({
    name: 'crash',
    data: moment,
    onIssue: false,
    async run(_model, world) {
      world.acts.crash(moment);
      return NOTHING;
    },
  }));

export const CRASH_STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: crashesAfterWrites },
  { weight: 2, arbitrary: crashes },
);
