import {
  beatWorker,
  extendLeases,
  findWorker,
  type Heard,
  lockWorker,
  releaseHandovers,
  storeNow,
} from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { hashToken } from '../context/token-hash.ts';
import { isOwn, unknownWorker } from '../presence/own-worker.ts';
import { recordDeparture, recordRecovery, updateWorkerStatus } from '../presence/worker-status.ts';
import { reclaimAllOf } from './reclaim.ts';

/** A heartbeat of a worker: its status and the claims that it holds. */
export interface Heartbeat {
  tenantId: number;
  workerId: string;
  tokenId?: string;
  status: 'idle' | 'busy' | 'draining' | 'leaving';
  tasks: readonly { taskId: string; claimToken: string }[];
}

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
  const worker = await recordHeartbeat(engine, beat);
  const claims = beat.tasks.map((task) => ({ taskId: task.taskId, tokenHash: hashToken(task.claimToken) }));
  const own = { claims, tokenId: beat.tokenId ?? null };
  const held = leaving ? [] : await extendLeases(store.db, tenantId, own, engine.settings().leaseMs);
  const heldIds = new Set(held.map((row) => row.task_id));
  const dropped = claims.filter((claim) => !heldIds.has(claim.taskId));
  if (dropped.length > 0) await releaseHandover(engine, tenantId, { claims: dropped, tokenId: own.tokenId });
  if (!leaving && dropped.length > 0) {
    await inTenant(engine, tenantId, (unit) => updateWorkerStatus(unit, workerId, { alive: true }));
  } else if (worker.stalled_since !== null) {
    await inTenant(engine, tenantId, (unit) => recordRecovery(unit, workerId));
  }
  return {
    ok: true,
    // What the worker reports itself is not repeated: a worker that echoes the answer could never be resumed.
    draining: worker.draining,
    cancelTaskIds: dropped.map((claim) => claim.taskId),
    serverTimestamp: await storeNow(store.db),
  };
}

/**
 * Records a worker's heartbeat. Without changes it is one update; the store has the worker's tasks better than the
 * worker, so of the reported status only `draining` and `leaving` are used.
 * @throws AppError NOT_FOUND for a worker that is not registered, or not by this token.
 */
async function recordHeartbeat(engine: Engine, beat: Heartbeat): Promise<Heard> {
  const { tenantId, workerId, tokenId } = beat;
  const finishing = beat.status === 'draining';
  const reported = { busy: beat.tasks.length > 0, finishing };
  const key = { tenantId, id: workerId, tokenId: tokenId ?? null };
  const quiet = beat.status === 'leaving' ? undefined : await beatWorker(engine.store.db, key, reported);
  if (quiet) return quiet;
  await requireWorker(engine, beat);
  const heard =
    beat.status === 'leaving'
      ? await recordLeave(engine, tenantId, workerId)
      : await inTenant(engine, tenantId, (unit) => updateWorkerStatus(unit, workerId, { alive: true, finishing }));
  if (!heard) throw unknownWorker(workerId);
  return heard;
}

/** A worker that leaves with claims returns them. */
async function recordLeave(engine: Engine, tenantId: number, workerId: string): Promise<Heard | undefined> {
  const worker = await inTenant(engine, tenantId, async (unit) => {
    const locked = await lockWorker(unit.tx, tenantId, workerId);
    if (locked) await recordDeparture(unit, locked);
    return locked;
  });
  if (worker) await reclaimAllOf(engine, tenantId, workerId, 'the worker left');
  return worker && { ...worker, stalled_since: null };
}

/**
 * The worker of a withdrawn task has been notified that it must stop, so the task that waited for it may run. A worker
 * that never acknowledges blocks nothing: the hold ends with the old lease (releaseDue).
 */
async function releaseHandover(
  engine: Engine,
  tenantId: number,
  { claims, tokenId }: { claims: readonly { tokenHash: string }[]; tokenId: string | null },
): Promise<void> {
  const released = await releaseHandovers(
    engine.store.db,
    tenantId,
    { tokenHashes: claims.map((claim) => claim.tokenHash), tokenId },
    engine.settings().costLimits.perIssueUsd,
  );
  if (released > 0) engine.notify('svc_tasks', tenantId);
}

/** @throws AppError NOT_FOUND for a worker that is not registered, or not by this token. */
async function requireWorker(
  engine: Engine,
  key: { tenantId: number; workerId: string; tokenId?: string },
): Promise<void> {
  const worker = await findWorker(engine.store.db, key.tenantId, key.workerId);
  if (!worker || !isOwn(worker, key.tokenId)) throw unknownWorker(key.workerId);
}
