import { AppError } from '@pipeline/domain';
import { lockStrategy, rejectSnapshot } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordOperation } from '../records/records.ts';
import { findRepoAt, type RepoAddress } from '../repos/repo-address.ts';
import { activate, refusal } from './activate.ts';
import { repoEventSubject, snapshotAt, strategyKey } from './snapshots.ts';

/**
 * Approves a proposed snapshot and makes it the active one in the same transaction; on failure it stays proposed. Of
 * concurrent approvals one succeeds, the others find it active.
 * @throws AppError SNAPSHOT_NOT_FOUND, STRATEGY_APPLY_FAILED, and as `findRepoAt`.
 */
export async function approveStrategy(
  engine: Engine,
  address: RepoAddress,
  version: number,
  by: { approver: string; actor: Actor },
): Promise<void> {
  const key = strategyKey(await findRepoAt(engine, address));
  await inTenant(engine, key.tenantId, async (unit) => {
    await lockStrategy(unit.tx, key);
    const snapshot = await snapshotAt(unit.tx, key, version);
    if (snapshot.status !== 'proposed') throw refusal(version, `it is ${snapshot.status}, not proposed`);
    await activate(unit, key, snapshot, by);
    const { approver, actor } = by;
    recordOperation(unit, repoEventSubject(key), actor, { action: 'strategy-approve', version, approver });
  });
}

/**
 * Rejects a proposed snapshot permanently and stores the actor's reason.
 * @throws AppError SNAPSHOT_NOT_FOUND, INVALID_INPUT for one that is not proposed, and as `findRepoAt`.
 */
export async function rejectStrategy(
  engine: Engine,
  address: RepoAddress,
  version: number,
  actor: Actor,
): Promise<void> {
  const key = strategyKey(await findRepoAt(engine, address));
  await inTenant(engine, key.tenantId, async (unit) => {
    await lockStrategy(unit.tx, key);
    const { status } = await snapshotAt(unit.tx, key, version);
    if (status !== 'proposed')
      throw new AppError('INVALID_INPUT', `Snapshot ${version} is ${status}: only proposed snapshots can be rejected`);
    await rejectSnapshot(unit.tx, key, version, { by: actor.id ?? actor.type, reason: actor.reason ?? null });
    recordOperation(unit, repoEventSubject(key), actor, { action: 'strategy-reject', version });
  });
}
