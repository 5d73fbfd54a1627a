import { AppError, type Invocation } from '@pipeline/domain';
import { lockIssueOfClaim, lockRunOfClaim, type RunRow, releaseHandovers } from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { HeldClaim } from '../context/issue-context.ts';
import { hashToken } from '../context/token-hash.ts';
import { bookInvocations } from '../costs/book-invocations.ts';
import { reviewWorker } from '../presence/worker-status.ts';

export interface ClaimRef {
  tenantId: number;
  taskId: string;
  claimToken: string;
}

interface Behind<T> {
  /** The cost of a late report; it is recorded even when the report is refused. */
  invocations?: readonly Invocation[];
  /** The stored response to an earlier identical report, or undefined to continue. */
  repeated?: (run: RunRow) => T | undefined;
}

type Gate<T> = { answer: T } | { refused: 'lost' | 'cancelled' };

/**
 * Runs an operation of a worker after checking its claim. Locks the issue, then the run: the order of every use case.
 * @throws AppError CLAIM_LOST for a lost, expired or unknown claim, TASK_CANCELLED for a withdrawn task. Both change
 * nothing but the reported cost.
 */
export async function behindClaim<T>(
  engine: Engine,
  ref: ClaimRef,
  work: (unit: TransactionContext, claim: HeldClaim) => Promise<T>,
  behind: Behind<T> = {},
): Promise<T> {
  const gate = await inTenant(engine, ref.tenantId, (unit) => pass(unit, ref, work, behind));
  if ('answer' in gate) return gate.answer;
  if (gate.refused === 'cancelled') throw new AppError('TASK_CANCELLED', 'The task was cancelled. Discard the work.');
  throw new AppError('CLAIM_LOST', 'The claim is no longer held. Discard the work and claim again.');
}

async function pass<T>(
  unit: TransactionContext,
  ref: ClaimRef,
  work: (unit: TransactionContext, claim: HeldClaim) => Promise<T>,
  { invocations = [], repeated }: Behind<T>,
): Promise<Gate<T>> {
  const { tx, tenantId } = unit;
  const tokenHash = hashToken(ref.claimToken);
  const [issue, run] = await Promise.all([
    lockIssueOfClaim(tx, tenantId, tokenHash),
    lockRunOfClaim(tx, tenantId, tokenHash),
  ]);
  if (!run || run.task_id !== ref.taskId) return { refused: 'lost' };
  const before = repeated?.(run);
  if (before !== undefined) return { answer: before };
  if (run.alive) return { answer: await work(unit, { run, issue }) };
  await bookInvocations(unit, { run, issue }, invocations);
  if (run.status !== 'cancelled') return { refused: 'lost' };
  await letGo(unit, run);
  return { refused: 'cancelled' };
}

/** A worker that is notified to drop its task has thereby released it. */
async function letGo(unit: TransactionContext, run: RunRow): Promise<void> {
  const { perIssueUsd } = unit.settings.costLimits;
  const released = await releaseHandovers(unit.tx, unit.tenantId, [run.claim_token_hash], perIssueUsd);
  if (released > 0) unit.notify('svc_tasks');
  await reviewWorker(unit, run.worker_id, { alive: true });
}
