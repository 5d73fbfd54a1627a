import { AppError } from '@pipeline/domain';
import { type ClaimingWorker, findWorkers, type WorkerRow } from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/**
 * True for a worker with the token that registered it: its id alone grants no access. A worker from before tokens were
 * recorded belongs to the first token that registers it again.
 */
export const isOwn = ({ token_id }: Pick<WorkerRow, 'token_id'>, tokenId: string | undefined): boolean =>
  token_id === null || tokenId === undefined || token_id === tokenId;

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
