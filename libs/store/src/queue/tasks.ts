import { type Hold, WORK_TASK_TYPES } from '@pipeline/domain';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { CURRENT_TIME, svcNow } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Change, Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { isOfToken } from './runs.ts';

export type TaskRow = Selectable<DB['tasks']>;

const workTask = prepared('lock-work-task', (db, p: Params<{ tenantId: number; issueId: number }>) =>
  db
    .selectFrom('tasks')
    .select(COLUMNS.tasks)
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId'))
    .where(
      'task_type',
      'in',
      WORK_TASK_TYPES.map((type) => sql.lit(type)),
    )
    .forUpdate(),
);

/** Locks the work task of an issue whose row the caller has locked. */
export const lockWorkTask = (tx: Tx, tenantId: number, issueId: number): Promise<TaskRow | undefined> =>
  workTask.first(tx, { tenantId, issueId });

const retrospect = prepared('lock-retrospect', (db, p: Params<{ tenantId: number; issueId: number }>) =>
  db
    .selectFrom('tasks')
    .select(COLUMNS.tasks)
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId'))
    .where('task_type', '=', sql.lit('retrospect' as const))
    .forUpdate(),
);

/** Locks the retrospect of an issue whose row the caller has locked (index tasks_one_retrospect_per_issue). */
export const lockRetrospect = (tx: Tx, tenantId: number, issueId: number): Promise<TaskRow | undefined> =>
  retrospect.first(tx, { tenantId, issueId });

export interface TaskRef {
  tenant_id: number;
  id: string;
  run_id: number | null;
  issue_id: number | null;
}

/** Due held tasks. */
export const dueHeldTasks = (fleet: Db, limit: number): Promise<TaskRef[]> =>
  fleet
    .selectFrom('tasks')
    .modifyFront(fleetNote('upkeep of every queue'))
    .select(['tenant_id', 'id', 'run_id', 'issue_id'])
    .where('held', 'in', ['backoff', 'quota', 'handover'])
    .where('run_after', '<=', sql<string>`svc_now()`)
    .orderBy('run_after')
    .limit(limit)
    .execute();

export const taskById = (db: Db, tenantId: number, taskId: string): Promise<TaskRow | undefined> =>
  db.selectFrom('tasks').selectAll().where('tenant_id', '=', tenantId).where('id', '=', taskId).executeTakeFirst();

type Signed = { tenantId: number; taskId: string };

/** `least` keeps an earlier start, and is NULL-safe: of NULL and the present it returns the present. */
const recordStart = prepared('record-task-start', (db, p: Params<Signed>) =>
  db
    .updateTable('tasks')
    .set({ progress_at: svcNow, started_at: sql`least(started_at, svc_now())` })
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('taskId')),
);

const recordProgress = prepared('record-task-progress', (db, p: Params<Signed>) =>
  db
    .updateTable('tasks')
    .set({ progress_at: svcNow })
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('taskId')),
);

/** Records on a claimed task, whose run the caller has locked, that work has started or made progress. */
export async function updateTask(
  tx: Tx,
  tenantId: number,
  taskId: string,
  sign: 'started' | 'progress',
): Promise<void> {
  await (sign === 'started' ? recordStart : recordProgress).run(tx, { tenantId, taskId });
}

/**
 * Ends the leases of these withdrawn claims of a worker token (null = any), whose holders know that they must stop; tasks that waited for that may
 * run. @returns how many tasks became claimable.
 */
export async function releaseHandovers(
  db: Db,
  tenantId: number,
  { tokenHashes, tokenId }: { tokenHashes: readonly string[]; tokenId: string | null },
  perIssueUsd: number | null,
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    update runs r set lease_expires_at = svc_now()
    where tenant_id = ${tenantId} and claim_token_hash = any(${tokenHashes}) and status = 'cancelled'
      and lease_expires_at > svc_now() and ${isOfToken(sql.val(tenantId), sql.val(tokenId))}
    returning id`.execute(db);
  if (rows.length === 0) return 0;
  const released = await sql<{ held: string | null }>`
    update tasks t set run_after = null, ready_at = svc_now(),
      held = case when i.is_paused then 'paused' when i.cost_usd >= ${perIssueUsd}::numeric then 'budget' end
    from issues i
    where t.tenant_id = ${tenantId} and i.tenant_id = ${tenantId} and i.id = t.issue_id
      and t.handover_run_id = any(${rows.map((row) => row.id)}::bigint[]) and t.held = 'handover'
    returning t.held`.execute(db);
  return released.rows.filter((task) => task.held === null).length;
}

/**
 * Ends the hold of a due task, unless its issue is paused or has used up its budget.
 * @param perIssueUsd that budget; null = there is none.
 * @returns whether it may be claimed now.
 */
export async function releaseHeldTask(
  db: Db,
  tenantId: number,
  taskId: string,
  perIssueUsd: number | null,
): Promise<boolean> {
  const { rows } = await sql<{ held: string | null }>`
    update tasks t set run_after = null, ready_at = svc_now(), held = (
      select case when i.is_paused then 'paused' when i.cost_usd >= ${perIssueUsd}::numeric then 'budget' end
      from issues i where i.tenant_id = ${tenantId} and i.id = t.issue_id)
    where t.tenant_id = ${tenantId} and t.id = ${taskId} and t.held in ('backoff', 'quota', 'handover')
      and t.run_after <= svc_now()
    returning t.held`.execute(db);
  return rows[0] !== undefined && rows[0].held === null;
}

/** The waiting time starts now, unless it already had; of consecutive holds the last one counts. */
const readyBy = (now: RawBuilder<unknown>) =>
  sql<string>`least(${now}, case when held is null and status = 'pending' then ready_at else 'infinity' end)`;
const readyNow = readyBy(sql`svc_now()`);

/** Updates a task that the caller has locked. */
export async function setTask(tx: Tx, tenantId: number, taskId: string, change: Change<'tasks'>): Promise<void> {
  const set = 'held' in change ? { ...change, ready_at: readyNow } : change;
  await tx.updateTable('tasks').set(set).where('tenant_id', '=', tenantId).where('id', '=', taskId).execute();
}

/** Makes a claimed task pending again, as the same row, and ends its claim. */
export const putBackTask = (
  tx: Tx,
  tenantId: number,
  taskId: string,
  as: { attempt: number; held: Hold | null },
): Promise<void> =>
  setTask(tx, tenantId, taskId, {
    status: 'pending',
    attempt: as.attempt,
    held: as.held,
    run_id: null,
    claimed_by: null,
    claimed_at: null,
    started_at: null,
    progress_at: null,
    lease_expires_at: null,
  });

const holdTask = prepared('hold-pending-task', (db, p: Params<{ tenantId: number; issueId: number }>) =>
  db
    .updateTable('tasks')
    .set({ held: sql.lit('paused' as const) })
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId'))
    .where('status', '=', sql.lit('pending' as const)),
);

/** Holds the waiting task of a paused issue; the end of another hold is kept. */
export const holdPendingTask = (tx: Tx, tenantId: number, issueId: number): Promise<void> =>
  holdTask.run(tx, { tenantId, issueId });

type Resumed = { tenantId: number; issueId: number; held: Hold | null };

const resumeTask = prepared('resume-pending-task', (db, p: Params<Resumed>) =>
  db
    .updateTable('tasks')
    .from(CURRENT_TIME)
    .set({
      held: sql<Hold | null>`coalesce(${p('held')}::text, case when run_after > n.now then 'backoff' end)`,
      ready_at: svcNow,
    })
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId'))
    .where('status', '=', sql.lit('pending' as const))
    .where('held', '=', sql.lit('paused' as const)),
);

/** Restores the waiting task of a resumed issue to its other hold, such as its backoff, or makes it claimable. */
export const resumePendingTask = (tx: Tx, tenantId: number, issueId: number, held: Hold | null): Promise<void> =>
  resumeTask.run(tx, { tenantId, issueId, held });

type Restarted = { tenantId: number; taskId: string; held: Hold | null; waits: boolean };

const restart = prepared('restart-pending-task', (db, p: Params<Restarted>) =>
  db
    .updateTable('tasks')
    .from(CURRENT_TIME)
    .set({
      attempt: sql.lit(0),
      held: sql<Hold | null>`case when ${p('waits')}::boolean then held else ${p('held')}::text end`,
      run_after: sql`case when ${p('waits')}::boolean then run_after end`,
      ready_at: sql`case when ${p('waits')}::boolean then ready_at else ${readyBy(sql`n.now`)} end`,
    })
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('taskId')),
);

/** Sets a locked pending task back to its first attempt. @param waits it stays held, until the time it is held to. */
export const restartPendingTask = (
  tx: Tx,
  tenantId: number,
  taskId: string,
  { held, waits }: { held: Hold | null; waits: boolean },
): Promise<void> => restart.run(tx, { tenantId, taskId, held, waits });
