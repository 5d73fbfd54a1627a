import { type ErrorClass, retryDelayMs } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Held, World } from './world.ts';

export const ERRORS: [string, ErrorClass][] = [
  ['network down: ECONNRESET', 'transient'],
  ['permission denied', 'permanent'],
  ['too many requests', 'quota'],
  ['something odd', 'unknown'],
  ['something odd', 'quota'],
  ['something odd', 'permanent'],
];

/** Tasks that follow a failure and are claimable, or would be within the shortest backoff: they would fail again. */
export async function hurried({ database }: World, { task }: Held): Promise<unknown[]> {
  const shortestMs = retryDelayMs(task.attempt, 0);
  const { rows } = await sql`
    select held, run_after from tasks where status = 'pending' and issue_number = ${task.issueNumber}
      and task_type = ${task.taskType} and (held is null or run_after is null
        or run_after < svc_now() + ${shortestMs}::int * interval '1 ms')`.execute(database.db);
  return rows;
}
