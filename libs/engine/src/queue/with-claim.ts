import { AppError } from '@pipeline/domain';
import { contextOfClaim, lockClaim, lockClaimAndWorker, type RunRow, releaseHandovers } from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { HeldClaim } from '../context/issue-context.ts';
import { hashToken } from '../context/token-hash.ts';
import { isOwn } from '../presence/own-worker.ts';
import { updateWorkerStatus } from '../presence/worker-status.ts';
import type { ClaimToken } from './claim-types.ts';

interface ClaimOptions<T> {
  /** Runs before a claim that is no longer valid is refused: its changes are committed. */
  onRefused?: (unit: TransactionContext, claim: HeldClaim) => Promise<unknown>;
  /** The work ends the claim: its worker is locked too, and its context is read with the locks. */
  toEnd?: boolean;
  /** The stored response to an earlier identical request, or undefined to continue. */
  repeated?: (run: RunRow) => T | undefined;
}

type Checked<T> = { answer: T } | { refused: 'lost' | 'cancelled' };

/**
 * Runs an operation of a worker after checking its claim. Locks the issue, then the run: the order of every use case.
 * @throws AppError CLAIM_LOST for a lost, expired or unknown claim, TASK_CANCELLED for a withdrawn task. Both change
 * nothing but what `onRefused` writes.
 */
export async function withClaim<T>(
  engine: Engine,
  token: ClaimToken,
  work: (unit: TransactionContext, claim: HeldClaim) => Promise<T>,
  options: ClaimOptions<T> = {},
): Promise<T> {
  const checked = await inTenant(engine, token.tenantId, (unit) => checkAndRun(unit, token, work, options));
  if ('answer' in checked) return checked.answer;
  if (checked.refused === 'cancelled')
    throw new AppError('TASK_CANCELLED', 'The task was cancelled. Discard the work.');
  throw new AppError('CLAIM_LOST', 'The claim is no longer held. Discard the work and claim again.');
}

async function checkAndRun<T>(
  unit: TransactionContext,
  { taskId, claimToken, tokenId }: ClaimToken,
  work: (unit: TransactionContext, claim: HeldClaim) => Promise<T>,
  { onRefused, toEnd = false, repeated }: ClaimOptions<T>,
): Promise<Checked<T>> {
  const { tx, tenantId } = unit;
  const tokenHash = hashToken(claimToken);
  const [locked, around] = await Promise.all([
    toEnd ? lockClaimAndWorker(tx, tenantId, tokenHash) : lockClaim(tx, tenantId, tokenHash),
    toEnd ? contextOfClaim(tx, tenantId, tokenHash) : undefined,
  ]);
  if (locked?.run.task_id !== taskId || !isOwn({ token_id: locked.tokenId }, tokenId)) return { refused: 'lost' };
  const claim: HeldClaim = { ...locked, ...(around && { around }) };
  const { run } = claim;
  const before = repeated?.(run);
  if (before !== undefined) return { answer: before };
  if (run.alive) return { answer: await work(unit, claim) };
  await onRefused?.(unit, claim);
  if (run.status !== 'cancelled') return { refused: 'lost' };
  await releaseCancelled(unit, run);
  return { refused: 'cancelled' };
}

/** A worker that is notified to drop its task has thereby released it. */
async function releaseCancelled(unit: TransactionContext, run: RunRow): Promise<void> {
  const { perIssueUsd } = unit.settings.costLimits;
  const claim = { tokenHashes: [run.claim_token_hash], tokenId: null };
  // It reads the cost of the issue.
  await unit.rows.write();
  const released = await releaseHandovers(unit.tx, unit.tenantId, claim, perIssueUsd);
  if (released > 0) unit.notify('svc_tasks');
  await updateWorkerStatus(unit, run.worker_id, { alive: true });
}
