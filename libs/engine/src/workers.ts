import { randomUUID } from 'node:crypto';
import { AppError, presentStatus } from '@pipeline/domain';
import {
  beatWorker,
  type ClaimingWorker,
  claimsOfWorker,
  findWorkers,
  type Heard,
  isLiveToken,
  lockWorker,
  lockWorkerByName,
  upsertWorker,
  type WorkerRow,
} from '@pipeline/store';
import { type Engine, inTenant, type Unit } from './context.ts';
import { reclaim } from './reclaim.ts';
import { noteDeparture, noteRegistration, reviewWorker } from './worker-status.ts';

export interface Registration {
  name: string;
  hostname: string;
  version: string;
  repos: string[];
  taskTypes: string[];
  labels: Record<string, string>;
  /** The presented token; absent for callers without one, such as tests. */
  tokenId?: string;
}

/**
 * Registers a worker by its name. A known name is the same worker after a restart: it keeps its id, and its previous
 * claims return to the queue immediately instead of after their lease. A name belongs to the token that registered it
 * until that token is revoked, because a registration under the name returns its claims.
 * @returns the worker's id.
 * @throws AppError INSUFFICIENT_SCOPE for the name of another token's worker.
 */
export async function registerWorker(engine: Engine, tenantId: number, input: Registration): Promise<string> {
  const worker = await inTenant(engine, tenantId, async (unit) => {
    const before = await lockWorkerByName(unit.tx, tenantId, input.name);
    if (before && !isOwn(before, input.tokenId)) await requireFreeName(unit, before);
    const status = presentStatus({ draining: before?.draining ?? false, busy: false });
    const worker = { ...input, id: `wkr_${randomUUID()}`, status, tokenId: input.tokenId ?? null };
    const row = await upsertWorker(unit.tx, tenantId, worker, before?.token_id ?? null);
    if (!row) throw taken(input.name);
    await noteRegistration(unit, row, before);
    return row;
  });
  await takeBackAll(engine, tenantId, worker.id, 'the worker was started anew');
  return worker.id;
}

/**
 * True for a worker with the token that registered it: its id alone grants no access. A worker from before tokens were
 * recorded belongs to the first token that registers it again.
 */
export const isOwn = ({ token_id }: Pick<WorkerRow, 'token_id'>, tokenId: string | undefined): boolean =>
  token_id === null || tokenId === undefined || token_id === tokenId;

async function requireFreeName({ tx }: Unit, { name, token_id }: WorkerRow): Promise<void> {
  if (token_id !== null && (await isLiveToken(tx, token_id))) throw taken(name);
}

const taken = (name: string): AppError =>
  new AppError(
    'INSUFFICIENT_SCOPE',
    `The worker name ${name} belongs to another worker token. Take another name, or revoke that token first.`,
  );

export const unknownWorker = (workerId: string): AppError =>
  new AppError('NOT_FOUND', `Unknown worker: ${workerId}. Register first.`);

/** @throws AppError NOT_FOUND for a worker that is not registered, or not by this token. */
export async function requireWorker(
  engine: Engine,
  key: { tenantId: number; workerId: string; tokenId?: string },
): Promise<ClaimingWorker> {
  const [worker] = await findWorkers(engine.store.tenant, key.tenantId, [key.workerId]);
  if (!worker || !isOwn(worker, key.tokenId)) throw unknownWorker(key.workerId);
  return worker;
}

export interface Beat {
  tenantId: number;
  workerId: string;
  tokenId?: string;
  status: 'idle' | 'busy' | 'draining' | 'leaving';
  tasks: readonly { taskId: string; claimToken: string }[];
}

/**
 * Records a worker's heartbeat. Without changes it is one update; the store knows the worker's tasks better than the
 * worker, so of the reported status only `draining` and `leaving` are used.
 * @throws AppError NOT_FOUND for a worker that is not registered, or not by this token.
 */
export async function hearWorker(engine: Engine, beat: Beat): Promise<Heard> {
  const { tenantId, workerId, tokenId } = beat;
  const finishing = beat.status === 'draining';
  const told = { busy: beat.tasks.length > 0, finishing };
  const key = { tenantId, id: workerId, tokenId: tokenId ?? null };
  const quiet = beat.status === 'leaving' ? undefined : await beatWorker(engine.store.tenant, key, told);
  if (quiet) return quiet;
  await requireWorker(engine, beat);
  const heard =
    beat.status === 'leaving'
      ? await depart(engine, tenantId, workerId)
      : await inTenant(engine, tenantId, (unit) => reviewWorker(unit, workerId, { alive: true, finishing }));
  if (!heard) throw unknownWorker(workerId);
  return heard;
}

/** A worker that leaves with claims returns them. */
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
