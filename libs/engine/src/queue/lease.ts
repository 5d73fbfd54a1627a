import { extendLeases, updateTask } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { hashToken } from '../context/token-hash.ts';
import { behindClaim, type ClaimRef } from './claim-gate.ts';

/** Reports that work has begun: ends the claim-to-start deadline. Idempotent. @returns the end of the lease. */
export async function start(engine: Engine, ref: ClaimRef): Promise<string> {
  return behindClaim(engine, ref, async (unit, { run }) => {
    await updateTask(unit.tx, unit.tenantId, run.task_id, 'started');
    return run.lease_expires_at;
  });
}

/** Extends the lease of one claim. @returns its new end. @throws AppError CLAIM_LOST or TASK_CANCELLED. */
export async function extend(engine: Engine, ref: ClaimRef): Promise<string> {
  const claims = [{ taskId: ref.taskId, tokenHash: hashToken(ref.claimToken) }];
  const [extended] = await extendLeases(engine.store.tenant, ref.tenantId, claims, engine.settings().leaseMs);
  // Nothing was extended: the gate knows whether the claim was lost or withdrawn, and throws.
  return extended?.lease_expires_at ?? behindClaim(engine, ref, async (_unit, { run }) => run.lease_expires_at);
}
