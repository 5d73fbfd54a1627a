import type { Proposal, SnapshotStatus, StrategyChange, StrategySnapshot, StrategySource } from '@pipeline/domain';
import { svcNow } from '../driver/clock.ts';
import type { Change, Db, Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import type { StrategyKey } from './strategy-cycle.ts';

const COLUMNS_ON_WIRE = [
  'version',
  'status',
  'intent',
  'rationale',
  'parent_version as parentVersion',
  'charter_version as charterVersion',
  'proposed_by as proposedBy',
  'created_at as createdAt',
  'iso_week as isoWeek',
  'source',
  'changes',
  'slate',
  'risk',
  'evidence',
  'approved_at as approvedAt',
  'approved_by as approvedBy',
  'activated_at as activatedAt',
  'superseded_at as supersededAt',
  'superseded_by as supersededBy',
  'rejected_at as rejectedAt',
  'rejection_reason as rejectionReason',
  'cost_usd as costUsd',
] as const;

const ofRepo = (db: Db, { tenantId, repoId }: StrategyKey) =>
  db
    .selectFrom('strategy_snapshots')
    .select(COLUMNS_ON_WIRE)
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId);

const MOST_LISTED = 500;

/** Snapshots in these statuses, newest first, at most 500 (index strategy_snapshots_by_status). */
export const snapshotsIn = (
  db: Db,
  key: StrategyKey,
  statuses: readonly SnapshotStatus[],
): Promise<StrategySnapshot[]> =>
  ofRepo(db, key).where('status', 'in', statuses).orderBy('version', 'desc').limit(MOST_LISTED).execute();

export const findSnapshot = (db: Db, key: StrategyKey, version: number): Promise<StrategySnapshot | undefined> =>
  ofRepo(db, key).where('version', '=', version).executeTakeFirst();

/** Recently applied changes, newest first: about half a year of weeks. */
export async function pastChanges(db: Db, { tenantId, repoId }: StrategyKey): Promise<StrategyChange[]> {
  const rows = await db
    .selectFrom('strategy_snapshots')
    .select('changes')
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('status', 'in', ['active', 'superseded'])
    .where('activated_at', 'is not', null)
    .orderBy('activated_at', 'desc')
    .orderBy('version', 'desc')
    .limit(26)
    .execute();
  return rows.flatMap(({ changes }) => changes);
}

export interface NewSnapshot extends Proposal {
  source: StrategySource;
  proposedBy: string;
  isoWeek: string | null;
  parentVersion: number | null;
  charterVersion: number | null;
  costUsd: number | null;
}

/**
 * Adds a proposed snapshot. The caller holds the strategy's lock, so that versions follow each other.
 * @returns its version.
 */
export async function insertSnapshot(
  tx: Tx,
  { tenantId, repoId }: StrategyKey,
  snapshot: NewSnapshot,
): Promise<number> {
  const former = await tx
    .selectFrom('strategy_snapshots')
    .select('version')
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  const version = (former?.version ?? 0) + 1;
  await tx
    .insertInto('strategy_snapshots')
    .values({
      tenant_id: tenantId,
      repo_id: repoId,
      version,
      status: 'proposed',
      source: snapshot.source,
      intent: snapshot.intent,
      rationale: snapshot.rationale,
      parent_version: snapshot.parentVersion,
      charter_version: snapshot.charterVersion,
      iso_week: snapshot.isoWeek,
      changes: jsonb(snapshot.changes),
      slate: jsonb(snapshot.slate),
      risk: jsonb(snapshot.risk),
      evidence: jsonb(snapshot.evidence),
      cost_usd: snapshot.costUsd,
      proposed_by: snapshot.proposedBy,
    })
    .execute();
  return version;
}

/** Version of the active snapshot; null before there was one. */
export async function activeSnapshotVersion(db: Db, { tenantId, repoId }: StrategyKey): Promise<number | null> {
  const row = await db
    .selectFrom('strategy_snapshots')
    .select('version')
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('status', '=', 'active')
    .executeTakeFirst();
  return row?.version ?? null;
}

const change = (tx: Tx, { tenantId, repoId }: StrategyKey, from: SnapshotStatus, set: Change<'strategy_snapshots'>) =>
  tx
    .updateTable('strategy_snapshots')
    .set(set)
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('status', '=', from);

/** Makes a proposed snapshot the active one in place of the previous one. The caller holds the strategy's lock. */
export async function activateSnapshot(tx: Tx, key: StrategyKey, version: number, approvedBy: string): Promise<void> {
  await change(tx, key, 'active', {
    status: 'superseded',
    superseded_at: svcNow,
    superseded_by: version,
  }).execute();
  await change(tx, key, 'proposed', {
    status: 'active',
    approved_at: svcNow,
    approved_by: approvedBy,
    activated_at: svcNow,
  })
    .where('version', '=', version)
    .execute();
}

/** Supersedes weekly proposals without a decision by the one of this week. */
export async function supersedeWeekly(tx: Tx, key: StrategyKey, by: number): Promise<void> {
  await change(tx, key, 'proposed', { status: 'superseded', superseded_at: svcNow, superseded_by: by })
    .where('source', '=', 'weekly')
    .where('version', '<', by)
    .execute();
}

export async function rejectSnapshot(
  tx: Tx,
  key: StrategyKey,
  version: number,
  { by, reason }: { by: string; reason: string | null },
): Promise<void> {
  await change(tx, key, 'proposed', {
    status: 'rejected',
    rejected_at: svcNow,
    rejected_by: by,
    rejection_reason: reason,
  })
    .where('version', '=', version)
    .execute();
}
