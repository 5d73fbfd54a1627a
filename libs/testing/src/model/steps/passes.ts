import { expect } from '@jest/globals';
import type { HostEvent } from '@pipeline/domain';
import { type Params, prepared } from '@pipeline/store';
import { sql } from 'kysely';
import type { Death } from '../world/acts.ts';
import type { World } from '../world/world.ts';

/** Delivers pending webhooks, oldest first. @param twice a redelivery, which the inbox would accept. */
export async function deliver(world: World, count: number, twice = false): Promise<void> {
  for (const event of world.host.state.webhooks.splice(0, count)) {
    const delivered: HostEvent[] =
      twice && (event.kind === 'comment' || event.kind === 'review') ? [event, event] : [event];
    await world.acts.deliver(delivered);
  }
}

/** One pass of the outbox; the last `dying` entries crash. @returns how many were started. */
export const outbox = (world: World, count = 100, death: Death = 'never', dying = 1): Promise<number> =>
  world.acts.send({ count, death, dying });

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
