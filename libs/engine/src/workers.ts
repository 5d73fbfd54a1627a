import { randomUUID } from 'node:crypto';
import { AppError, presentStatus } from '@pipeline/domain';
import { beatWorker, claimsOfWorker, type Heard, lockWorker, lockWorkerByName, upsertWorker } from '@pipeline/store';
import { type Engine, inTenant } from './context.ts';
import { reclaim } from './reclaim.ts';
import { noteDeparture, noteRegistration, reviewWorker } from './worker-status.ts';

export interface Registration {
  name: string;
  hostname: string;
  version: string;
  repos: string[];
  taskTypes: string[];
  labels: Record<string, string>;
}

/**
 * Registers a worker by its name. A name that comes again is the same worker started anew: it keeps its id, and what
 * its former life had claimed is put back at once instead of waiting for the lease to end.
 * @returns the worker's id.
 */
export async function registerWorker(engine: Engine, tenantId: number, input: Registration): Promise<string> {
  const worker = await inTenant(engine, tenantId, async (unit) => {
    const before = await lockWorkerByName(unit.tx, tenantId, input.name);
    const status = presentStatus({ draining: before?.draining ?? false, busy: false });
    const row = await upsertWorker(unit.tx, tenantId, { ...input, id: `wkr_${randomUUID()}`, status });
    await noteRegistration(unit, row, before);
    return row;
  });
  await takeBackAll(engine, tenantId, worker.id, 'the worker was started anew');
  return worker.id;
}

export interface Beat {
  tenantId: number;
  workerId: string;
  status: 'idle' | 'busy' | 'draining' | 'leaving';
  tasks: readonly { taskId: string; claimToken: string }[];
}

/**
 * Notes a worker's sign of life. One that brings no news is one update; what it holds is known better here than by it,
 * so of its word only `draining` and `leaving` count.
 * @throws AppError NOT_FOUND for a worker that is not registered.
 */
export async function hearWorker(engine: Engine, beat: Beat): Promise<Heard> {
  const { tenantId, workerId } = beat;
  const finishing = beat.status === 'draining';
  const told = { busy: beat.tasks.length > 0, finishing };
  const heard =
    beat.status === 'leaving'
      ? await depart(engine, tenantId, workerId)
      : ((await beatWorker(engine.store.tenant, tenantId, workerId, told)) ??
        (await inTenant(engine, tenantId, (unit) => reviewWorker(unit, workerId, { alive: true, finishing }))));
  if (!heard) throw new AppError('NOT_FOUND', `Unknown worker: ${workerId}. Register first.`);
  return heard;
}

/** A worker that leaves with claims gives them back. */
async function depart(engine: Engine, tenantId: number, workerId: string): Promise<Heard | undefined> {
  const worker = await inTenant(engine, tenantId, async (unit) => {
    const locked = await lockWorker(unit.tx, tenantId, workerId);
    if (locked) await noteDeparture(unit, locked);
    return locked;
  });
  if (worker) await takeBackAll(engine, tenantId, workerId, 'the worker left');
  return worker && { ...worker, stalled_since: null };
}

async function takeBackAll(engine: Engine, tenantId: number, workerId: string, why: string): Promise<void> {
  for (const { id, run_id, issue_id } of await claimsOfWorker(engine.store.tenant, tenantId, workerId)) {
    if (run_id === null) continue;
    await reclaim(engine, tenantId, { taskId: id, runId: run_id, issueId: issue_id }, { why, when: () => true });
  }
}
