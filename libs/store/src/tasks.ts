import { AGENT_OF, type Hold, type TaskType, WORK_TASK_TYPES } from '@pipeline/domain';
import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from './connection.ts';
import type { Tasks } from './database.generated.ts';
import { type Change, fleetNote, svcNow } from './json.ts';

export type TaskRow = Selectable<Tasks>;

export interface NewTask {
  id: string;
  workId: string;
  repoId: number;
  issueId: number | null;
  issueNumber: number;
  taskType: TaskType;
  priority: number;
  attempt: number;
  maxAttempts: number;
  held: Hold | null;
  /** Milliseconds until a held task becomes due; null = never by itself. */
  runAfterMs: number | null;
  handoverRunId: number | null;
}

/**
 * Adds tasks of one tenant. Fairness between repos is made here, so that the claim stays one index scan: a task's
 * turn follows the lowest waiting turn of its queue (tenant, type, priority) and the highest one of its own repo in
 * that queue, so repos alternate however much one of them piles up. Two index probes per queue and
 * repo of the batch.
 */
export async function enqueueTasks(tx: Db, tenantId: number, tasks: readonly NewTask[]): Promise<void> {
  if (tasks.length === 0) return;
  const column = <K extends keyof NewTask>(key: K) => tasks.map((task) => task[key]);
  await sql`
    with input as (
      select * from unnest(
        ${column('id')}::uuid[], ${column('workId')}::uuid[], ${column('repoId')}::bigint[],
        ${column('issueId')}::bigint[], ${column('issueNumber')}::integer[], ${column('taskType')}::text[],
        ${column('priority')}::integer[], ${column('attempt')}::integer[], ${column('maxAttempts')}::integer[],
        ${column('held')}::text[], ${column('runAfterMs')}::bigint[], ${column('handoverRunId')}::bigint[]
      ) with ordinality as t (id, work_id, repo_id, issue_id, issue_number, task_type, priority, attempt,
        max_attempts, held, run_after_ms, handover_run_id, ord)
    ), queue as (
      select q.repo_id, q.task_type, q.priority, greatest(
        coalesce((select t.turn from tasks t where t.tenant_id = ${tenantId} and t.task_type = q.task_type
          and t.priority = q.priority and t.status = 'pending' order by t.turn limit 1), 0),
        coalesce((select t.turn from tasks t where t.tenant_id = ${tenantId} and t.repo_id = q.repo_id
          and t.task_type = q.task_type and t.priority = q.priority and t.status = 'pending'
          order by t.turn desc limit 1), 0)) as turn
      from (select distinct repo_id, task_type, priority from input) q
    )
    insert into tasks (tenant_id, id, work_id, repo_id, issue_id, issue_number, task_type, priority, turn, attempt,
      max_attempts, held, run_after, handover_run_id)
    select ${tenantId}, i.id, i.work_id, i.repo_id, i.issue_id, i.issue_number, i.task_type, i.priority,
      q.turn + row_number() over (partition by i.repo_id, i.task_type, i.priority order by i.ord),
      i.attempt, i.max_attempts, i.held, svc_now() + i.run_after_ms * interval '1 ms', i.handover_run_id
    from input i
    join queue q on q.repo_id = i.repo_id and q.task_type = i.task_type and q.priority = i.priority`.execute(tx);
}

/** Locks the work task of an issue whose row the caller has locked. */
export const lockWorkTask = (tx: Tx, tenantId: number, issueId: number): Promise<TaskRow | undefined> =>
  tx
    .selectFrom('tasks')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', issueId)
    .where('task_type', 'in', WORK_TASK_TYPES)
    .forUpdate()
    .executeTakeFirst();

export async function deleteTask(tx: Tx, tenantId: number, taskId: string): Promise<void> {
  await tx.deleteFrom('tasks').where('tenant_id', '=', tenantId).where('id', '=', taskId).execute();
}

const AGENTS = JSON.stringify(AGENT_OF);

export interface Claimed {
  id: string;
  work_id: string;
  run_id: number;
  claim_token_hash: string;
  repo_id: number;
  issue_id: number | null;
  issue_number: number;
  task_type: TaskType;
  priority: number;
  attempt: number;
  max_attempts: number;
  lease_expires_at: string;
}

export interface ClaimInput {
  workerId: string;
  taskTypes: readonly string[];
  /** Null = all repos of the tenant. */
  repoIds: readonly number[] | null;
  /** One per task wanted; the claim gives out at most as many tasks. */
  tokenHashes: readonly string[];
  leaseMs: number;
}

/**
 * Claims the tasks whose turn it is, at most one per token hash: lowest priority number first, then turn. One statement:
 * per wanted type (and repo, for restricted workers) one index scan that skips what others are claiming, so its cost
 * does not grow with the backlog. Each claim gets its run and its event in the same statement.
 */
export async function claimTasks(db: Db, tenantId: number, input: ClaimInput): Promise<Claimed[]> {
  const limit = input.tokenHashes.length;
  const heads =
    input.repoIds === null ? headsOfTenant(tenantId, input.taskTypes, limit) : headsOfRepos(tenantId, input, limit);
  const { rows } = await sql<Claimed>`
    with head as (${heads}),
    chosen as (
      select h.id, nextval('run_id_seq') as run_id, token.hash
      from (select id, row_number() over (order by priority, turn, id) as n from head) h
      join unnest(${input.tokenHashes}::text[]) with ordinality as token (hash, n) on token.n = h.n
    ), claimed as (
      update tasks t
      set status = 'claimed', claimed_by = ${input.workerId}, claimed_at = svc_now(), started_at = null,
        progress_at = svc_now(), run_id = c.run_id,
        lease_expires_at = svc_now() + ${`${input.leaseMs} ms`}::interval
      from chosen c
      where t.tenant_id = ${tenantId} and t.id = c.id
      returning t.id, t.work_id, t.run_id, c.hash, t.repo_id, t.issue_id, t.issue_number, t.task_type, t.priority,
        t.attempt, t.max_attempts, t.claimed_at, t.lease_expires_at
    ), run as (
      insert into runs (tenant_id, id, task_id, work_id, repo_id, issue_id, issue_number, task_type, attempt, agent,
        worker_id, claim_token_hash, claimed_at, lease_expires_at)
      select ${tenantId}, run_id, id, work_id, repo_id, issue_id, issue_number, task_type, attempt, ${AGENTS}::jsonb ->> task_type,
        ${input.workerId}, hash, claimed_at, lease_expires_at from claimed
    ), event as (
      insert into pipeline_events (tenant_id, repo_id, issue_id, issue_number, event_type, agent, payload)
      select ${tenantId}, repo_id, issue_id, nullif(issue_number, 0), 'task_claimed', ${AGENTS}::jsonb ->> task_type,
        jsonb_build_object(
        'taskId', id, 'taskType', task_type, 'attempt', attempt, 'workerId', ${input.workerId}::text, 'error', null)
      from claimed
    )
    select id, work_id, run_id, hash as claim_token_hash, repo_id, issue_id, issue_number, task_type, priority, attempt,
      max_attempts, lease_expires_at
    from claimed order by priority, run_id`.execute(db);
  return rows;
}

const headsOfTenant = (tenantId: number, taskTypes: readonly string[], limit: number) => sql`
  select t.id, t.priority, t.turn
  from unnest(${taskTypes}::text[]) as wanted (task_type)
  cross join lateral (
    select id, priority, turn from tasks
    where tenant_id = ${tenantId} and task_type = wanted.task_type and status = 'pending' and held is null
    order by priority, turn, id limit ${limit} for update skip locked
  ) t
  order by t.priority, t.turn, t.id limit ${limit}`;

const headsOfRepos = (tenantId: number, input: ClaimInput, limit: number) => sql`
  select t.id, t.priority, t.turn
  from unnest(${input.taskTypes}::text[]) as wanted (task_type)
  cross join unnest(${input.repoIds}::bigint[]) as repo (id)
  cross join lateral (
    select id, priority, turn from tasks
    where tenant_id = ${tenantId} and repo_id = repo.id and task_type = wanted.task_type
      and status = 'pending' and held is null
    order by priority, turn, id limit ${limit} for update skip locked
  ) t
  order by t.priority, t.turn, t.id limit ${limit}`;

export interface TaskRef {
  tenant_id: number;
  id: string;
  run_id: number | null;
  issue_id: number | null;
}

/** Held tasks whose time has come. */
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

/** Notes on a claimed task whose run the caller has locked: work has begun, or something of it could be seen. */
export async function updateTask(
  tx: Tx,
  tenantId: number,
  taskId: string,
  sign: 'started' | 'progress',
): Promise<void> {
  await tx
    .updateTable('tasks')
    .set((eb) => ({
      progress_at: svcNow,
      ...(sign === 'started' && { started_at: eb.fn.coalesce('started_at', svcNow) }),
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', taskId)
    .execute();
}

/**
 * The holders of these withdrawn claims know that they must stop: their leases end, and tasks that waited for that may
 * run. @returns how many tasks became pending for real.
 */
export async function releaseHandovers(db: Db, tenantId: number, tokenHashes: readonly string[]): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    update runs set lease_expires_at = svc_now()
    where tenant_id = ${tenantId} and claim_token_hash = any(${tokenHashes}) and status = 'cancelled'
      and lease_expires_at > svc_now()
    returning id`.execute(db);
  if (rows.length === 0) return 0;
  const result = await sql`
    update tasks t set held = case when i.is_paused then 'paused' end, run_after = null
    from issues i
    where t.tenant_id = ${tenantId} and i.tenant_id = ${tenantId} and i.id = t.issue_id
      and t.handover_run_id = any(${rows.map((row) => row.id)}::bigint[]) and t.held = 'handover'`.execute(db);
  return Number(result.numAffectedRows ?? 0);
}

/** Ends the hold of a task whose time has come, unless its issue is paused. @returns whether it may be claimed now. */
export async function releaseHeldTask(db: Db, tenantId: number, taskId: string): Promise<boolean> {
  const { rows } = await sql<{ held: string | null }>`
    update tasks t set held = case when i.is_paused then 'paused' end, run_after = null
    from issues i
    where t.tenant_id = ${tenantId} and i.tenant_id = ${tenantId} and t.id = ${taskId} and i.id = t.issue_id
      and t.held in ('backoff', 'quota', 'handover') and t.run_after <= svc_now()
    returning t.held`.execute(db);
  return rows[0] !== undefined && rows[0].held === null;
}

/** Changes a task that the caller has locked. */
export async function setTask(tx: Tx, tenantId: number, taskId: string, change: Change<'tasks'>): Promise<void> {
  await tx.updateTable('tasks').set(change).where('tenant_id', '=', tenantId).where('id', '=', taskId).execute();
}

/** Makes a claimed task pending again, as the same row; its claim is over. */
export const putBackTask = (
  tx: Tx,
  tenantId: number,
  taskId: string,
  as: { attempt: number; paused: boolean },
): Promise<void> =>
  setTask(tx, tenantId, taskId, {
    status: 'pending',
    attempt: as.attempt,
    held: as.paused ? 'paused' : null,
    run_id: null,
    claimed_by: null,
    claimed_at: null,
    started_at: null,
    progress_at: null,
    lease_expires_at: null,
  });

/** Takes the waiting task of a paused issue out of the claim; when another hold would have ended is kept. */
export async function holdPendingTask(tx: Tx, tenantId: number, issueId: number): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ held: 'paused' })
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', issueId)
    .where('status', '=', 'pending')
    .execute();
}

/** Gives the waiting task of a resumed issue back to the claim, or to the backoff that it was in. */
export async function resumePendingTask(tx: Tx, tenantId: number, issueId: number): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ held: sql<'backoff' | null>`case when run_after > svc_now() then 'backoff' end` })
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', issueId)
    .where('status', '=', 'pending')
    .where('held', '=', 'paused')
    .execute();
}
