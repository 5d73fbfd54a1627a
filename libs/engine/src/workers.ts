import { randomUUID } from 'node:crypto';
import { claimsOfWorker, inTransaction, upsertWorker } from '@pipeline/store';
import type { Engine } from './context.ts';
import { reclaim } from './reclaim.ts';

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
  const worker = await inTransaction(engine.store.tenant, (tx) =>
    upsertWorker(tx, tenantId, { ...input, id: `wkr_${randomUUID()}` }),
  );
  await takeBackAll(engine, tenantId, worker.id, 'the worker was started anew');
  return worker.id;
}

/** A worker that leaves with claims gives them back. */
export const leaveWorker = (engine: Engine, tenantId: number, workerId: string): Promise<void> =>
  takeBackAll(engine, tenantId, workerId, 'the worker left');

async function takeBackAll(engine: Engine, tenantId: number, workerId: string, why: string): Promise<void> {
  for (const { id, run_id, issue_id } of await claimsOfWorker(engine.store.tenant, tenantId, workerId)) {
    if (run_id === null) continue;
    await reclaim(engine, tenantId, { taskId: id, runId: run_id, issueId: issue_id }, { why, onlyOverdue: false });
  }
}
