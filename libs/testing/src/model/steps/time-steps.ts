import fc from 'fast-check';
import { pass } from '../world/world.ts';
import { upkeep } from './passes.ts';
import type { Step } from './step.ts';

/** Around all deadlines: leases, claim-to-start, backoffs, quota, stall, automatic unblock, a day. */
const SECONDS = [1, 20, 31, 61, 121, 400, 901, 2_701, 90_000];

export const TIME_STEPS: fc.Arbitrary<Step> = fc
  .record({ seconds: fc.constantFrom(...SECONDS), upkeep: fc.boolean() })
  .map((data) => ({
    name: 'time',
    data,
    onIssue: false,
    async run(_model, world) {
      pass(world, data.seconds);
      if (data.upkeep) await upkeep(world);
      return { moves: data.upkeep ? 'all' : [] };
    },
  }));
