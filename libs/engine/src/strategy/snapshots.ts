import { AppError, type SnapshotStatus, type StrategySnapshot } from '@pipeline/domain';
import { type Db, findSnapshot, type RepoRow, type StrategyKey, snapshotsIn } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import type { EventSubject } from '../records/records.ts';
import { findRepoAt, type RepoAddress } from '../repos/repo-address.ts';

export const strategyKey = (repo: RepoRow): StrategyKey => ({ tenantId: repo.tenant_id, repoId: repo.id });

/** The subject of a strategy's events: its repo. */
export const repoEventSubject = ({ repoId }: StrategyKey): EventSubject => ({
  issue: { id: null, repo_id: repoId, issue_number: null },
});

/** Default statuses of the list. */
const OPEN: readonly SnapshotStatus[] = ['proposed', 'active'];

/**
 * The snapshots of a repo in a status, newest first, at most 500; without a status: proposed and active ones.
 * @throws the errors of `findRepoAt`.
 */
export async function listSnapshots(
  engine: Engine,
  address: RepoAddress,
  status?: SnapshotStatus,
): Promise<StrategySnapshot[]> {
  const repo = await findRepoAt(engine, address);
  return snapshotsIn(engine.store.db, strategyKey(repo), status === undefined ? OPEN : [status]);
}

/**
 * Gets one snapshot by version, whatever its status.
 * @throws AppError SNAPSHOT_NOT_FOUND, and the errors of `findRepoAt`.
 */
export async function readSnapshot(engine: Engine, address: RepoAddress, version: number): Promise<StrategySnapshot> {
  const repo = await findRepoAt(engine, address);
  return snapshotAt(engine.store.db, strategyKey(repo), version);
}

/** The largest version that the store accepts. */
const MAX_VERSION = 2_147_483_647;

/** @throws AppError SNAPSHOT_NOT_FOUND. */
export async function snapshotAt(db: Db, key: StrategyKey, version: number): Promise<StrategySnapshot> {
  const isPossible = version >= 1 && version <= MAX_VERSION;
  const snapshot = isPossible ? await findSnapshot(db, key, version) : undefined;
  if (!snapshot) throw new AppError('SNAPSHOT_NOT_FOUND', `Snapshot ${version} not found`);
  return snapshot;
}
