import { AppError } from '@pipeline/domain';
import { claimsOfWorker, locateWorker, lockWorker, repoOfWorker, updateWorker } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { updateWorkerStatus } from '../presence/worker-status.ts';
import { type HeldTask, reclaimLocked } from '../queue/reclaim.ts';
import { recordGlobalOperation, recordOperation } from '../records/records.ts';

/**
 * Starts or ends the drain of a worker (interface: States and transitions, row Worker). A draining worker finishes its
 * task and claims no other; it is notified at its next heartbeat, and immediately if it waits for a task.
 * @throws AppError NOT_FOUND for an unknown worker.
 */
export async function drainWorker(engine: Engine, id: string, draining: boolean, actor: Actor): Promise<void> {
  const place = await locateWorker(engine.store.db, id);
  if (!place) throw new AppError('NOT_FOUND', `Worker not found: ${id}`);
  await inTenant(engine, place.tenant_id, async (unit) => {
    const worker = await lockWorker(unit.tx, unit.tenantId, id);
    if (!worker) throw new AppError('NOT_FOUND', `Worker not found: ${id}`);
    await updateWorker(unit.tx, unit.tenantId, id, { draining });
    await updateWorkerStatus(unit, id, { alive: false });
    const repoId = await repoOfWorker(unit.tx, worker);
    const action = draining ? 'worker-drain' : 'worker-resume';
    // Recorded in the log of the most related repo; for a tenant without repos in that of the deployment.
    if (repoId !== null) {
      const repo = { id: null, repo_id: repoId, issue_number: null };
      recordOperation(unit, { issue: repo }, actor, { action, workerId: id });
    } else await recordGlobalOperation(unit, actor, { action, subject: `worker ${id}` });
    unit.notify('svc_tasks');
  });
}

/** A reclaimed task; issueNumber is null for a task without an issue. */
interface ReclaimedTask {
  taskId: string;
  issueNumber: number | null;
}

/**
 * Reclaims the stalled task of a worker (its lease has expired, or it made no progress for too long, or the worker is
 * silent); of several the oldest one. It becomes pending as attempt + 1; the last attempt is repeated, because a person
 * requested it.
 * @returns null when the worker is unknown or holds no stalled task.
 */
export async function reclaimFromWorker(engine: Engine, id: string, actor: Actor): Promise<ReclaimedTask | null> {
  const place = await locateWorker(engine.store.db, id);
  if (!place) return null;
  for (const claim of await claimsOfWorker(engine.store.db, place.tenant_id, id)) {
    if (claim.run_id === null) continue;
    const held = { taskId: claim.id, runId: claim.run_id, issueId: claim.issue_id };
    if (await reclaimStuck(engine, place.tenant_id, held, { id, actor })) {
      return { taskId: claim.id, issueNumber: claim.issue_number || null };
    }
  }
  return null;
}

function reclaimStuck(
  engine: Engine,
  tenantId: number,
  claim: HeldTask,
  { id, actor }: { id: string; actor: Actor },
): Promise<boolean> {
  const why = 'an operator took the stalled task back';
  return inTenant(engine, tenantId, async (unit) => {
    const task = await reclaimLocked(unit, claim, { why, when: ({ stuck }) => stuck, again: true });
    if (!task) return false;
    const issue = { id: task.issue_id, repo_id: task.repo_id, issue_number: task.issue_number || null };
    recordOperation(unit, { issue }, actor, { action: 'worker-reclaim', workerId: id, taskId: task.id });
    return true;
  });
}
