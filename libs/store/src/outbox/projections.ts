import type { Lane, ProjectionAction, ProjectionStatus } from '@pipeline/domain';
import { LANES, laneOf, MAX_PROJECTION_ATTEMPTS } from '@pipeline/domain';
import { type Selectable, sql } from 'kysely';
import { msInterval, svcNow, svcNowPlus } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Change, Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { mergedWrite, type Params, prepared, preparedWrite } from '../driver/prepared.ts';

export type ProjectionRow = Omit<Selectable<DB['projections']>, 'action'> & { action: ProjectionAction };

interface NewProjection {
  repoId: number;
  issueId: number | null;
  issueNumber: number;
  clientType: string;
  action: ProjectionAction;
  /** Makes a second insert of the same host write a no-op. */
  idempotencyKey: string;
}

interface Insertion {
  tenantId: number;
  items: string;
  maxAttempts: number;
}

/** @param names of the CTEs, unique in the store. */
const inserting = (p: Params<Insertion>, [items, comment, rewritten]: readonly [string, string, string]) => ({
  ctes: {
    [items]: sql`
      select "repoId", "issueId", "issueNumber", lane, action, "clientType", "idempotencyKey"
      from jsonb_to_recordset(${p('items')}::jsonb) as i ("repoId" bigint, "issueId" bigint, "issueNumber" integer,
        lane text, action jsonb, "clientType" text, "idempotencyKey" text)`,
    [comment]: sql`
      select "repoId", "issueNumber", action from ${sql.ref(items)} where action ->> 'type' = 'updateComment' limit 1`,
    [rewritten]: sql`
      update projections set action = (select action from ${sql.ref(comment)}), updated_at = svc_now()
      where tenant_id = ${p('tenantId')} and repo_id = (select "repoId" from ${sql.ref(comment)})
        and issue_number = (select "issueNumber" from ${sql.ref(comment)}) and lane = 'talk' and status = 'pending'
        and attempt_started_at is null and action ->> 'type' = 'updateComment'
      returning id`,
  },
  main: sql`
    insert into projections (tenant_id, repo_id, issue_id, issue_number, lane, action, max_attempts, client_type,
      idempotency_key)
    select ${p('tenantId')}, i."repoId", i."issueId", i."issueNumber", i.lane, i.action, ${p('maxAttempts')},
      i."clientType", i."idempotencyKey"
    from ${sql.ref(items)} i
    where i.action ->> 'type' <> 'updateComment' or not exists (select id from ${sql.ref(rewritten)})
    on conflict (tenant_id, idempotency_key) do nothing`,
});

const insert = preparedWrite('insert-projections', (_db, p: Params<Insertion>) =>
  inserting(p, ['items', 'comment', 'rewritten']),
);

/**
 * Appends host writes to the outbox in order. All entries must belong to one issue if one is a status comment. A
 * pending status comment is rewritten instead, so that a busy issue costs one write and not one per step. One
 * statement; it reads the open entries of the issue (index projections_open).
 */
export async function insertProjections(tx: Tx, tenantId: number, items: readonly NewProjection[]): Promise<void> {
  if (items.length === 0) return;
  const rows = items.map((item) => ({ ...item, lane: laneOf(item.action) }));
  await insert.run(tx, { tenantId, items: JSON.stringify(rows), maxAttempts: MAX_PROJECTION_ATTEMPTS });
}

/** The form in which the outbox is indexed. */
interface IssueKey {
  tenant_id: number;
  repo_id: number;
  issue_number: number;
}

export interface SendableProjection {
  tenant_id: number;
  id: number;
  repo_id: number;
  issue_number: number;
  action: ProjectionAction;
  /** Whether its lane has another entry behind it. */
  has_next: boolean;
}

/**
 * The oldest open entry of every lane of every issue that may be sent to that kind of host now. A failed entry, and one
 * that waits for its backoff, block their lane; entries without an issue (number 0) are independent of each other and
 * block none. Reads the open entries only (partial index `projections_open`).
 */
export const sendableProjections = (fleet: Db, clientType: string, limit: number): Promise<SendableProjection[]> =>
  sendableHeads.all(fleet, { clientType, limit });

const sendableHeads = prepared(
  'sendable-projections',
  (_db, p: Params<{ clientType: string; limit: number }>) => sql<SendableProjection>`
    /* fleet: the executor serves every tenant */ select tenant_id, id, repo_id, issue_number, action, has_next from (
      select distinct on (tenant_id, repo_id, issue_number, lane)
        tenant_id, id, repo_id, issue_number, action, client_type, status, retry_after,
        lead(id) over (partition by tenant_id, repo_id, issue_number, lane order by id) is not null as has_next
      from projections
      where status in ('pending', 'failed')
        and (issue_number > 0 or (status = 'pending' and (retry_after is null or retry_after <= svc_now())))
      order by tenant_id, repo_id, issue_number, lane, id
    ) head
    where status = 'pending' and client_type = ${p('clientType')} and (retry_after is null or retry_after <= svc_now())
    order by id
    limit ${p('limit')}`,
);

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

/** Whether the issue has a later entry of the same type. Cost: the entries of the issue. */
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

/** A merge that was postponed without an error, and not sent since. */
const waitsForChecks = sql<boolean>`action ->> 'type' = 'mergePR' and status = 'pending'
  and retry_after is not null and error is null and attempt_started_at is null`;

const anyOpen = prepared(
  'any-open-projection',
  (
    _db,
    p: Params<{
      tenantId: number;
      repoId: number;
      number: number;
      statuses: readonly string[];
      lanes: readonly string[];
    }>,
  ) => sql<{ id: number }>`
    select id from projections
    where tenant_id = ${p('tenantId')} and repo_id = ${p('repoId')} and issue_number = ${p('number')}
      and status in ('pending', 'failed') and status = any(${p('statuses')}::text[]) and lane = any(${p('lanes')}::text[])
      and not (${waitsForChecks})
    limit 1`,
);

/**
 * True while the host does not show the wanted state of this issue, because an entry is pending or failed. A merge that
 * waits for checks does not count: nothing of it is on its way to the host. Reads the open entries of the issue (index
 * projections_open). @param lanes of these lanes only.
 */
export async function hasOpenProjections(
  tx: Tx,
  issue: IssueKey,
  statuses: readonly ('pending' | 'failed')[],
  lanes: readonly Lane[] = LANES,
): Promise<boolean> {
  const { tenant_id: tenantId, repo_id: repoId, issue_number: number } = issue;
  return (await anyOpen.first(tx, { tenantId, repoId, number, statuses, lanes })) !== undefined;
}

/** Whether an entry of this type is pending for the issue. Reads the open entries of the issue (index projections_open). */
export async function isProjectionPending(tx: Tx, issue: IssueKey, type: ProjectionAction['type']): Promise<boolean> {
  const row = await tx
    .selectFrom('projections')
    .select('id')
    .where('tenant_id', '=', issue.tenant_id)
    .where('repo_id', '=', issue.repo_id)
    .where('issue_number', '=', issue.issue_number)
    .where('status', '=', 'pending')
    .where(sql<string>`action ->> 'type'`, '=', type)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

interface Withdrawal {
  tenantId: number;
  repoId: number;
  number: number;
  types: string[];
}

const withdrawing = (p: Params<Withdrawal>) => sql`
    update projections set status = 'discarded', retry_after = null, error = 'superseded', updated_at = svc_now()
    where tenant_id = ${p('tenantId')} and repo_id = ${p('repoId')} and issue_number = ${p('number')}
      and (status = 'failed' or (status = 'pending' and attempt_started_at is null))
      and action ->> 'type' = any(${p('types')}::text[])`;

const withdraw = preparedWrite('withdraw-projections', (_db, p: Params<Withdrawal>) => withdrawing(p));

// Other entries than those that are rewritten: a status comment is never outdated.
mergedWrite(withdraw, insert, (_db, p: Params<Withdrawal & Insertion>) => {
  const { ctes, main } = inserting(p, ['items_then', 'comment_then', 'rewritten_then']);
  return { ctes: { outdated: withdrawing(p), ...ctes }, main };
});

/** A host write that a later change can make unwanted. */
export type OutdatedAction = Exclude<ProjectionAction['type'], 'updateComment'>;

/**
 * Discards outdated entries of the issue: pending ones, and failed ones, which would block the following ones. One that
 * may be on its way to the host is left unchanged.
 */
export async function withdrawProjections(tx: Tx, issue: IssueKey, types: readonly OutdatedAction[]): Promise<void> {
  const { tenant_id: tenantId, repo_id: repoId, issue_number: number } = issue;
  await withdraw.run(tx, { tenantId, repoId, number, types: [...types] });
}

const lastCompleted = prepared('last-completed-projection', (db, p: Params<{ tenantId: number; issueId: number }>) =>
  db
    .selectFrom('projections')
    .select((eb) => eb.fn.max('updated_at').as('at'))
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId'))
    .where('status', '=', sql.lit('complete')),
);

/** When the newest write for an issue completed; earlier host views may be older than our own writes. */
export async function lastCompletedAt(tx: Tx, tenantId: number, issueId: number): Promise<string | null> {
  return (await lastCompleted.first(tx, { tenantId, issueId }))?.at ?? null;
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

/** Finds an entry by its id alone: the only statement about it that does not name its tenant. */
export const locateProjection = (
  fleet: Db,
  id: number,
): Promise<{ tenant_id: number; issue_id: number | null } | undefined> =>
  fleet
    .selectFrom('projections')
    .modifyFront(fleetNote('finds the tenant of an id'))
    .select(['tenant_id', 'issue_id'])
    .where('id', '=', id)
    .executeTakeFirst();

interface ListedProjection {
  id: number;
  repoOwner: string;
  repoName: string;
  issueNumber: number;
  action: ProjectionAction;
  status: ProjectionStatus;
  attempts: number;
  maxAttempts: number;
  clientType: string;
  retryAfter: string | null;
  error: string | null;
  createdAt: string;
  updatedAt: string;
}

/** Entries of all tenants, newest first. Scans the id index backwards until enough of them have the status. */
export async function listProjections(
  fleet: Db,
  statuses: readonly ProjectionStatus[],
  limit: number,
): Promise<ListedProjection[]> {
  const rows = await fleet
    .selectFrom('projections as p')
    .modifyFront(fleetNote('operators see all tenants'))
    .innerJoin('repos as r', (join) => join.onRef('r.tenant_id', '=', 'p.tenant_id').onRef('r.id', '=', 'p.repo_id'))
    .select([
      'p.id',
      'r.owner as repoOwner',
      'r.name as repoName',
      'p.issue_number as issueNumber',
      'p.action',
      'p.status',
      'p.attempts',
      'p.max_attempts as maxAttempts',
      'p.client_type as clientType',
      'p.retry_after as retryAfter',
      'p.error',
      'p.created_at as createdAt',
      'p.updated_at as updatedAt',
    ])
    .where('p.status', 'in', statuses)
    .orderBy('p.id', 'desc')
    .limit(limit)
    .execute();
  return rows as unknown as ListedProjection[];
}

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
