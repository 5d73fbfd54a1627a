import { expect } from '@jest/globals';
import type { ExecuteResult } from '@pipeline/domain';
import { beginSending, passMergeGate, type Sending, sendable, settle } from '@pipeline/engine';
import { sql } from 'kysely';
import type { Death, Pass } from '../world/acts.ts';
import type { Stage } from '../world/world.ts';

/** One pass of the outbox, like the monitor's loop. @returns how many entries were started. */
export async function send(stage: Stage, { count, death, dying }: Pass): Promise<number> {
  const ready = (await sendable(stage.engine, 'sandbox', 100)).slice(0, count);
  for (const [index, entry] of ready.entries())
    await sendOne(stage, entry, index >= ready.length - dying ? death : 'never');
  return ready.length;
}

async function sendOne(stage: Stage, entry: { tenant_id: number; id: number }, death: Death): Promise<void> {
  const { engine, host } = stage;
  const sendings = [await beginSending(engine, entry.tenant_id, entry.id)];
  if (death === 'two at once') sendings.push(await beginSending(engine, entry.tenant_id, entry.id));
  if (death === 'before the write') return;
  for (const [index, sending] of sendings.entries()) {
    if (!sending) continue;
    const action = await passMergeGate(engine, sending, host);
    if (action === null) continue;
    const { projection, repo, mayHaveHappened } = sending;
    const result = await host.execute(repo, projection.issue_number, action, { mayHaveHappened });
    if (death !== 'before the record') await settleOnce(stage, sending, result, index > 0);
  }
}

/**
 * Rows that a result writes; a late one for a complete entry adds only its attempt.
 * @param late another executor may have completed the entry since it was started.
 */
async function settleOnce(stage: Stage, sending: Sending, result: ExecuteResult, late: boolean): Promise<void> {
  const before = late ? await traceOf(stage, sending) : null;
  await settle(stage.engine, sending, result);
  if (before?.status === 'complete') expect(await traceOf(stage, sending)).toEqual(before);
  if (result.status === 'failed') {
    expect(await sendable(stage.engine, 'sandbox', 100)).not.toContainEqual(
      expect.objectContaining({ id: sending.projection.id }),
    );
  }
}

/** An outbox entry and all possible consequences of its result. */
async function traceOf({ database }: Stage, { projection }: Sending): Promise<Record<string, unknown>> {
  const { rows } = await sql<Record<string, unknown>>`
    select p.status, p.attempts, p.result, i.state, i.updated_at,
      (select count(*) from tasks) as tasks, (select count(*) from projections) as entries,
      (select count(*) from pipeline_events) as events, (select count(*) from issue_edges) as edges
    from projections p left join issues i on i.id = p.issue_id where p.id = ${projection.id}`.execute(database.db);
  return rows[0] ?? {};
}
