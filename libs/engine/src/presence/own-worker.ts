import { AppError } from '@pipeline/domain';
import type { WorkerRow } from '@pipeline/store';
/**
 * True for a worker with the token that registered it: its id alone grants no access. A worker from before tokens were
 * recorded belongs to the first token that registers it again.
 */
export const isOwn = ({ token_id }: Pick<WorkerRow, 'token_id'>, tokenId: string | undefined): boolean =>
  token_id === null || tokenId === undefined || token_id === tokenId;

export const unknownWorker = (workerId: string): AppError =>
  new AppError('NOT_FOUND', `Unknown worker: ${workerId}. Register first.`);
