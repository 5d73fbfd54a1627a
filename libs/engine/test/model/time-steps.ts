import {
  autoUnblock,
  reclaimExpired,
  reclaimStalled,
  releaseDue,
  releaseWaiting,
  watchSilence,
} from '@pipeline/engine';
import fc from 'fast-check';
import type { Step } from './step.ts';
import { pass, type World } from './world.ts';

/** Every loop of upkeep once. */
export async function upkeep({ engine }: World): Promise<void> {
  await reclaimExpired(engine);
  await reclaimStalled(engine);
  await releaseDue(engine);
  await releaseWaiting(engine);
  await autoUnblock(engine);
  await watchSilence(engine);
}

/** Around every deadline there is: leases, claim-to-start, backoffs, quota, stall, automatic unblock, a day. */
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
