import { expect } from '@jest/globals';
import { type Params, prepared } from '@pipeline/store';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Step } from './step.ts';
import { pass, type World } from './world.ts';

/** Runs every upkeep loop once. Tasks that are not due keep waiting. */
export async function upkeep(world: World): Promise<void> {
  const { db, clock } = world.database;
  const waiting = await waitingTasks.all(db, { now: clock.now });
  await world.acts.upkeep();
  if (waiting.length > 0) expect(await freeTasks.all(db, { ids: waiting.map(({ id }) => id) })).toEqual([]);
}

const waitingTasks = prepared(
  'model-waiting-tasks',
  (_db, p: Params<{ now: Date | null }>) => sql<{ id: string }>`
    select id from tasks where status = 'pending' and held is not null and run_after > ${p('now')}`,
);

const freeTasks = prepared(
  'model-free-tasks',
  (_db, p: Params<{ ids: string[] }>) => sql<{ id: string; task_type: string }>`
    select id, task_type from tasks where id = any(${p('ids')}) and status = 'pending' and held is null`,
);

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
