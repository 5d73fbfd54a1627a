import { AppError } from '@pipeline/domain';
import { claimsOfWorker, locateWorker, lockWorker, repoOfWorker, updateWorker } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { reviewWorker } from '../presence/worker-status.ts';
import { type HeldTask, takeBack } from '../queue/reclaim.ts';
import { recordDeed, recordOperation } from '../records/records.ts';

/**
 * Tells a worker to drain, or to go on (interface: States and transitions, row Worker). A draining worker ends the
 * task it has and claims no other; it learns so at its next heartbeat, and one that waits for a task at once.
 * @throws AppError NOT_FOUND for an unknown worker.
 */
export async function drainWorker(engine: Engine, id: string, draining: boolean, actor: Actor): Promise<void> {
  const place = await locateWorker(engine.store.fleet, id);
  if (!place) throw new AppError('NOT_FOUND', `Worker not found: ${id}`);
  await inTenant(engine, place.tenant_id, async (unit) => {
    const worker = await lockWorker(unit.tx, unit.tenantId, id);
    if (!worker) throw new AppError('NOT_FOUND', `Worker not found: ${id}`);
    await updateWorker(unit.tx, unit.tenantId, id, { draining });
    await reviewWorker(unit, id, { alive: false });
    const repoId = await repoOfWorker(unit.tx, worker);
    const action = draining ? 'worker-drain' : 'worker-resume';
    // Kept in the log of the repo that it concerns most; of a tenant without repos in that of the deployment.
    if (repoId !== null) {
      const repo = { id: null, repo_id: repoId, issue_number: null };
      recordOperation(unit, { issue: repo }, actor, { action, workerId: id });
    } else await recordDeed(unit, actor, { action, subject: `worker ${id}` });
    unit.ring('svc_tasks');
  });
}

/** A task that was taken from its worker; issueNumber is null for work without an issue. */
export interface ReclaimedTask {
  taskId: string;
  issueNumber: number | null;
}

/**
 * Takes the stalled task of a worker back (its lease is over, or it was without progress for too long, or the worker
 * is silent); of several the one it has had longest. It is pending again as attempt + 1; on its
 * last attempt that one is made once more, for a person asked for it.
 * @returns null when the worker is unknown or holds nothing that is stalled.
 */
export async function reclaimFromWorker(engine: Engine, id: string, actor: Actor): Promise<ReclaimedTask | null> {
  const place = await locateWorker(engine.store.fleet, id);
  if (!place) return null;
  for (const claim of await claimsOfWorker(engine.store.tenant, place.tenant_id, id)) {
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
    const task = await takeBack(unit, claim, { why, when: ({ stuck }) => stuck, again: true });
    if (!task) return false;
    const issue = { id: task.issue_id, repo_id: task.repo_id, issue_number: task.issue_number || null };
    recordOperation(unit, { issue }, actor, { action: 'worker-reclaim', workerId: id, taskId: task.id });
    return true;
  });
}
