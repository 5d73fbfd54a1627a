import { extendLeases, startTask, updateTask } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { hashToken } from '../context/token-hash.ts';
import type { ClaimToken } from './claim-types.ts';
import { withClaim } from './with-claim.ts';

/**
 * Reports that work has begun: ends the claim-to-start deadline. Idempotent. @returns the end of the lease.
 * @throws AppError CLAIM_LOST or TASK_CANCELLED.
 */
export async function start(engine: Engine, token: ClaimToken): Promise<string> {
  const claim = {
    taskId: token.taskId,
    tokenHash: hashToken(token.claimToken),
    tokenId: token.tokenId ?? null,
  };
  const started = await startTask(engine.store.db, token.tenantId, claim);
  // Nothing was started: as in `extend`.
  return (
    started?.lease_expires_at ??
    withClaim(engine, token, async (unit, { run }) => {
      await updateTask(unit.tx, unit.tenantId, run.task_id, 'started');
      return run.lease_expires_at;
    })
  );
}

/** Extends the lease of one claim. @returns its new end. @throws AppError CLAIM_LOST or TASK_CANCELLED. */
export async function extend(engine: Engine, token: ClaimToken): Promise<string> {
  const claims = [{ taskId: token.taskId, tokenHash: hashToken(token.claimToken) }];
  const own = { claims, tokenId: token.tokenId ?? null };
  const [extended] = await extendLeases(engine.store.db, token.tenantId, own, engine.settings().leaseMs);
  // Nothing was extended: the gate checks whether the claim was lost or withdrawn, and throws.
  return extended?.lease_expires_at ?? withClaim(engine, token, async (_unit, { run }) => run.lease_expires_at);
}
