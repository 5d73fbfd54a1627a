import type { ProjectionAction } from '@pipeline/domain';
import { type Selectable, sql } from 'kysely';
import { msInterval, svcNow, svcNowPlus } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Change, Db, Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { IssueKey } from './open-projections.ts';

export type ProjectionRow = Omit<Selectable<DB['projections']>, 'action'> & { action: ProjectionAction };

interface Id {
  tenantId: number;
  id: number;
}

const one = (db: Db, p: Params<Id>) =>
  db
    .selectFrom('projections')
    .select(COLUMNS.projections)
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('id'));
const found = prepared('projection-by-id', (db, p: Params<Id>) => one(db, p));
const locked = prepared('lock-projection', (db, p: Params<Id>) => one(db, p).forUpdate());

export const lockProjection = (tx: Tx, tenantId: number, id: number): Promise<ProjectionRow | undefined> =>
  locked.first(tx, { tenantId, id }) as Promise<ProjectionRow | undefined>;

export const findProjection = (db: Db, tenantId: number, id: number): Promise<ProjectionRow | undefined> =>
  found.first(db, { tenantId, id }) as Promise<ProjectionRow | undefined>;

export async function updateProjection(
  tx: Tx,
  tenantId: number,
  id: number,
  change: Change<'projections'>,
): Promise<void> {
  await tx
    .updateTable('projections')
    .set({ ...change, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Completes a pending entry that the store no longer wants to be sent. */
export async function completeWithoutAttempt(tx: Tx, tenantId: number, id: number): Promise<void> {
  await tx
    .updateTable('projections')
    .set({ status: 'complete', attempt_started_at: null, retry_after: null, error: null, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .execute();
}

/** Returns whether the issue has a later entry of the same type. Cost: the entries of the issue. */
export async function hasLaterProjection(db: Db, projection: ProjectionRow): Promise<boolean> {
  const row = await db
    .selectFrom('projections')
    .select('id')
    .where('tenant_id', '=', projection.tenant_id)
    .where('repo_id', '=', projection.repo_id)
    .where('issue_number', '=', projection.issue_number)
    .where('id', '>', projection.id)
    .where('status', '<>', 'discarded')
    .where(sql<string>`action ->> 'type'`, '=', projection.action.type)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

interface OfIssue {
  tenantId: number;
  repoId: number;
  number: number;
}

const lastCompleted = prepared('last-completed-projection', (db, p: Params<OfIssue>) =>
  db
    .selectFrom('projections')
    .select((eb) => eb.fn.max('updated_at').as('at'))
    .where('tenant_id', '=', p('tenantId'))
    .where('repo_id', '=', p('repoId'))
    .where('issue_number', '=', p('number'))
    .where('status', '=', sql.lit('complete')),
);

/**
 * Returns when the newest write for an issue completed; earlier host views may be older than our own writes. Cost: the
 * entries of the issue, by index projections_of_issue.
 */
export async function lastCompletedAt(tx: Tx, issue: IssueKey): Promise<string | null> {
  const { tenant_id: tenantId, repo_id: repoId, issue_number: number } = issue;
  return (await lastCompleted.first(tx, { tenantId, repoId, number }))?.at ?? null;
}

/**
 * Resets an entry to its first attempt. If it was ever sent it is in doubt, whatever the result: the next attempt reads
 * the host before it writes.
 */
export const retryProjection = (tx: Tx, projection: ProjectionRow): Promise<void> =>
  updateProjection(tx, projection.tenant_id, projection.id, {
    status: 'pending',
    attempts: 0,
    retry_after: null,
    error: null,
    attempt_started_at:
      projection.attempts > 0 ? (projection.attempt_started_at ?? svcNow) : projection.attempt_started_at,
  });

/** Leaves an entry pending for its next attempt, `delayMs` milliseconds from now. */
export const postponeProjection = (
  tx: Tx,
  tenantId: number,
  id: number,
  {
    delayMs,
    ...change
  }: { delayMs: number; attempts: number; attempt_started_at: string | null; error: string | null },
): Promise<void> => updateProjection(tx, tenantId, id, { ...change, retry_after: svcNowPlus(delayMs) });

/**
 * Postpones all pending entries of a repo that are not due later anyway. Entries that are locked are skipped: they are
 * about to be settled themselves, and two transactions that postpone the same entries cannot wait for each other. Cost:
 * the open entries of the repo, by index projections_open.
 */
export async function postponeRepoProjections(
  tx: Tx,
  { tenantId, repoId }: { tenantId: number; repoId: number },
  { delayMs, error }: { delayMs: number; error: string },
): Promise<void> {
  await sql`
    update projections p set retry_after = svc_now() + ${msInterval(delayMs)}, error = ${error}
    from (
      select id from projections
      where tenant_id = ${tenantId} and repo_id = ${repoId} and status = 'pending'
        and coalesce(retry_after, '-infinity') < svc_now() + ${msInterval(delayMs)}
      order by id for update skip locked
    ) open
    where p.tenant_id = ${tenantId} and p.id = open.id`.execute(tx);
}
