import { extendLeases, storeNow, updateTask } from '@pipeline/store';
import { behindClaim, type ClaimRef, hashToken } from './claim-gate.ts';
import { type Engine, inTenant } from './context.ts';
import { releaseHandover } from './handover.ts';
import { noteRecovery, reviewWorker } from './worker-status.ts';
import { type Beat, hearWorker } from './workers.ts';

/** Reports that work has begun: ends the claim-to-start deadline. Idempotent. @returns the end of the lease. */
export async function start(engine: Engine, ref: ClaimRef): Promise<string> {
  return behindClaim(engine, ref, async (unit, { run }) => {
    await updateTask(unit.tx, unit.tenantId, run.task_id, 'started');
    return run.lease_expires_at;
  });
}

/** Extends the lease of one claim. @returns its new end. @throws AppError CLAIM_LOST or TASK_CANCELLED. */
export async function extend(engine: Engine, ref: ClaimRef): Promise<string> {
  const claims = [{ taskId: ref.taskId, tokenHash: hashToken(ref.claimToken) }];
  const [extended] = await extendLeases(engine.store.tenant, ref.tenantId, claims, engine.settings().leaseMs);
  // Nothing was extended: the gate knows whether the claim was lost or withdrawn, and throws.
  return extended?.lease_expires_at ?? behindClaim(engine, ref, async (_unit, { run }) => run.lease_expires_at);
}

export type Heartbeat = Beat;

export interface HeartbeatAnswer {
  ok: true;
  draining: boolean;
  cancelTaskIds: string[];
  serverTimestamp: string;
}

/**
 * A worker's heartbeat: extends the leases of its claim tokens, lists the tasks it must drop. A worker that is notified
 * to drop a task has thereby released it, so the task that waited for it becomes claimable.
 * @throws AppError NOT_FOUND for a worker that is not registered.
 */
export async function heartbeat(engine: Engine, beat: Heartbeat): Promise<HeartbeatAnswer> {
  const { store } = engine;
  const { tenantId, workerId } = beat;
  const leaving = beat.status === 'leaving';
  const worker = await hearWorker(engine, beat);
  const claims = beat.tasks.map((task) => ({ taskId: task.taskId, tokenHash: hashToken(task.claimToken) }));
  const held = leaving ? [] : await extendLeases(store.tenant, tenantId, claims, engine.settings().leaseMs);
  const heldIds = new Set(held.map((row) => row.task_id));
  const dropped = claims.filter((claim) => !heldIds.has(claim.taskId));
  if (dropped.length > 0) await releaseHandover(engine, tenantId, dropped);
  if (!leaving && dropped.length > 0) {
    await inTenant(engine, tenantId, (unit) => reviewWorker(unit, workerId, { alive: true }));
  } else if (worker.stalled_since !== null) {
    await inTenant(engine, tenantId, (unit) => noteRecovery(unit, workerId));
  }
  return {
    ok: true,
    draining: worker.draining || beat.status === 'draining',
    cancelTaskIds: dropped.map((claim) => claim.taskId),
    serverTimestamp: await storeNow(store.tenant),
  };
}
