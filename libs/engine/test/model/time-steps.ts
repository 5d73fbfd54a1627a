import { expect } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Step } from './step.ts';
import { pass, type World } from './world.ts';

/** Every loop of upkeep once. Work whose time has not come waits on. */
export async function upkeep(world: World): Promise<void> {
  const waiting = await waitingTasks(world);
  await world.acts.upkeep();
  const free = await world.database.db
    .selectFrom('tasks')
    .select(['id', 'task_type'])
    .where('id', 'in', [...waiting, NO_TASK])
    .where('status', '=', 'pending')
    .where('held', 'is', null)
    .execute();
  expect(free).toEqual([]);
}

const NO_TASK = '00000000-0000-0000-0000-000000000000';

async function waitingTasks({ database }: World): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from tasks where status = 'pending' and held is not null and run_after > ${database.clock.now}`.execute(
    database.db,
  );
  return rows.map(({ id }) => id);
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
