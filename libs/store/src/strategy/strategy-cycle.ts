import type { StrategyAutomation, StrategyOutcome, StrategyRun } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** Names the strategy of a repo. */
export interface StrategyKey {
  tenantId: number;
  repoId: number;
}

export interface StrategyLock {
  enabled: boolean;
  /** Time at which the next cycle is due; null while it is off. */
  due_at: string | null;
  /** The store's time. */
  now: string;
}

/**
 * Locks the strategy of a repo to the end of the transaction: every change of charters, snapshots or the cycle of a
 * repo takes this lock first, and tracks after it.
 */
export async function lockStrategy(tx: Tx, { tenantId, repoId }: StrategyKey): Promise<StrategyLock> {
  await tx
    .insertInto('strategy_automation')
    .values({ tenant_id: tenantId, repo_id: repoId })
    .onConflict((c) => c.columns(['tenant_id', 'repo_id']).doNothing())
    .execute();
  return tx
    .selectFrom('strategy_automation')
    .select(['enabled', 'due_at', svcNow.as('now')])
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** Turns the weekly cycle on or off. The caller holds the lock. */
export async function saveAutomation(
  tx: Tx,
  { tenantId, repoId }: StrategyKey,
  { enabled, dueAt, by }: { enabled: boolean; dueAt: string | null; by: string },
): Promise<void> {
  await tx
    .updateTable('strategy_automation')
    .set({ enabled, due_at: dueAt, updated_at: svcNow, updated_by: by })
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .execute();
}

/** Schedules the next cycle for that time. The caller holds the lock. */
export async function putOffCycle(tx: Tx, { tenantId, repoId }: StrategyKey, dueAt: string): Promise<void> {
  await tx
    .updateTable('strategy_automation')
    .set({ due_at: dueAt })
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .execute();
}

/** Returns the state of the cycle of a repo: on or off, and when it is due; off by default. */
export async function automationOf(db: Db, { tenantId, repoId }: StrategyKey): Promise<StrategyAutomation> {
  const row = await db
    .selectFrom('strategy_automation as a')
    .select((eb) => [
      'a.enabled',
      'a.due_at',
      'a.updated_at',
      'a.updated_by',
      eb
        .selectFrom('strategy_snapshots as s')
        .select(({ fn }) => fn.max('s.iso_week').as('week'))
        .where('s.tenant_id', '=', tenantId)
        .whereRef('s.repo_id', '=', 'a.repo_id')
        .as('week'),
      eb
        .exists(
          eb
            .selectFrom('strategy_charters as c')
            .select('c.version')
            .where('c.tenant_id', '=', tenantId)
            .whereRef('c.repo_id', '=', 'a.repo_id'),
        )
        .as('chartered'),
    ])
    .where('a.tenant_id', '=', tenantId)
    .where('a.repo_id', '=', repoId)
    .executeTakeFirst();
  return {
    enabled: row?.enabled ?? false,
    cadence: 'weekly',
    lastProposedIsoWeek: row?.week ?? null,
    nextProposalAt: row?.enabled && row.chartered ? row.due_at : null,
    updatedAt: row?.updated_at ?? null,
    updatedBy: row?.updated_by ?? null,
  };
}

/** Enabled repos with a charter whose cycle is due: candidates, each is checked under its lock. */
export const dueStrategies = (fleet: Db, limit: number): Promise<StrategyKey[]> =>
  fleet
    .selectFrom('strategy_automation as a')
    .modifyFront(fleetNote('the weekly cycle of every repo'))
    .innerJoin('repos as r', (join) => join.onRef('r.tenant_id', '=', 'a.tenant_id').onRef('r.id', '=', 'a.repo_id'))
    .select(['a.tenant_id as tenantId', 'a.repo_id as repoId'])
    .where('a.enabled', '=', true)
    .where('a.due_at', '<=', svcNow)
    .where('r.enabled', '=', true)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('strategy_charters as c')
          .select('c.version')
          .whereRef('c.tenant_id', '=', 'a.tenant_id')
          .whereRef('c.repo_id', '=', 'a.repo_id'),
      ),
    )
    .orderBy('a.due_at')
    .limit(limit)
    .execute();

export interface NewStrategyRun {
  isoWeek: string;
  outcome: StrategyOutcome;
  failureReason: string | null;
  costUsd: number | null;
  snapshotVersion: number | null;
  nextDueAt: string;
  consecutiveFailures: number;
}

export async function insertStrategyRun(tx: Tx, { tenantId, repoId }: StrategyKey, run: NewStrategyRun): Promise<void> {
  await tx
    .insertInto('strategy_runs')
    .values({
      tenant_id: tenantId,
      repo_id: repoId,
      iso_week: run.isoWeek,
      outcome: run.outcome,
      failure_reason: run.failureReason,
      cost_usd: run.costUsd,
      snapshot_version: run.snapshotVersion,
      next_due_at: run.nextDueAt,
      consecutive_failures: run.consecutiveFailures,
    })
    .execute();
}

/** The newest cycle of a repo. */
export const latestStrategyRun = (db: Db, { tenantId, repoId }: StrategyKey): Promise<StrategyRun | undefined> =>
  db
    .selectFrom('strategy_runs')
    .select([
      'outcome',
      'failure_reason as failureReason',
      'cost_usd as costUsd',
      'next_due_at as nextDueAt',
      'created_at as createdAt',
      'consecutive_failures as consecutiveFailures',
      'iso_week as isoWeek',
      'snapshot_version as snapshotVersion',
    ])
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** True when the cycle of that week has ended without a failure. */
export async function isWeekDone(db: Db, { tenantId, repoId }: StrategyKey, isoWeek: string): Promise<boolean> {
  const row = await db
    .selectFrom('strategy_runs')
    .select(sql`1`.as('one'))
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('iso_week', '=', isoWeek)
    .where('outcome', '<>', 'failed')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
