import { ANY_AGENT, type Hold, type TaskType } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

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
  /** Milliseconds until a held task becomes due; null = it never does. */
  runAfterMs: number | null;
  handoverRunId: number | null;
  /** The agent that must do the task; absent = any. */
  comparedAgent?: string;
}

type Row = Required<NewTask>;
type Columns = { [K in keyof Row]: Row[K][] } & { tenantId: number };

type Queue = Record<'tenant' | 'type' | 'priority' | 'repo', RawBuilder<unknown>>;

/**
 * The turn that a new task follows: the lowest waiting one in its queue, or its own repo's highest there.
 */
const turnBefore = (queue: Queue) => sql`
  greatest(
    coalesce((select t.turn from tasks t where t.tenant_id = ${queue.tenant} and t.task_type = ${queue.type}
      and t.priority = ${queue.priority} and t.status = 'pending' order by t.turn limit 1), 0),
    coalesce((select t.turn from tasks t where t.tenant_id = ${queue.tenant} and t.repo_id = ${queue.repo}
      and t.task_type = ${queue.type} and t.priority = ${queue.priority} and t.status = 'pending'
      order by t.turn desc limit 1), 0))`;

const COLUMN_LIST = sql`tenant_id, id, work_id, repo_id, issue_id, issue_number, task_type, priority, turn, attempt,
  max_attempts, held, run_after, handover_run_id, compared_agent`;

type NewRow = Row & { tenantId: number };

// The engine adds one task at a time; without the steps for many that costs two thirds.
const one = prepared(
  'enqueue-task',
  (_db, p: Params<NewRow>) => sql`
    insert into tasks (${COLUMN_LIST})
    select ${p('tenantId')}, ${p('id')}, ${p('workId')}, ${p('repoId')}, ${p('issueId')}, ${p('issueNumber')},
      ${p('taskType')}, ${p('priority')},
      ${turnBefore({ tenant: p('tenantId'), type: p('taskType'), priority: p('priority'), repo: p('repoId') })} + 1,
      ${p('attempt')}, ${p('maxAttempts')}, ${p('held')},
      svc_now() + ${p('runAfterMs')}::bigint * interval '1 ms', ${p('handoverRunId')},
      ${p('comparedAgent')}`,
);

type Deleted = { tenantId: number; taskId: string };

const remove = prepared(
  'delete-task',
  (_db, p: Params<Deleted>) => sql`
    delete from tasks where tenant_id = ${p('tenantId')} and id = ${p('taskId')}`,
);

/** Deletes a task that the caller has locked, or whose run it has locked. */
export const deleteTask = (tx: Tx, tenantId: number, taskId: string): Promise<void> =>
  remove.run(tx, { tenantId, taskId });

// `queue` is materialized: the probes must run once per queue and repo, before the first row is inserted. Inlined into
// the insert they ran for each row and read the entries of all rows before it.
const many = prepared(
  'enqueue-tasks',
  (_db, p: Params<Columns>) => sql`
    with input as (
      select id, work_id, repo_id, issue_id, issue_number, task_type, priority, attempt, max_attempts, held,
        run_after_ms, handover_run_id, compared_agent, ord
      from unnest(
        ${p('id')}::uuid[], ${p('workId')}::uuid[], ${p('repoId')}::bigint[], ${p('issueId')}::bigint[],
        ${p('issueNumber')}::integer[], ${p('taskType')}::text[], ${p('priority')}::integer[],
        ${p('attempt')}::integer[], ${p('maxAttempts')}::integer[], ${p('held')}::text[],
        ${p('runAfterMs')}::bigint[], ${p('handoverRunId')}::bigint[], ${p('comparedAgent')}::text[]
      ) with ordinality as t (id, work_id, repo_id, issue_id, issue_number, task_type, priority, attempt,
        max_attempts, held, run_after_ms, handover_run_id, compared_agent, ord)
    ), queue as materialized (
      select q.repo_id, q.task_type, q.priority, ${turnBefore({
        tenant: p('tenantId'),
        type: sql.ref('q.task_type'),
        priority: sql.ref('q.priority'),
        repo: sql.ref('q.repo_id'),
      })} as turn
      from (select distinct repo_id, task_type, priority from input) q
    )
    insert into tasks (${COLUMN_LIST})
    select ${p('tenantId')}, i.id, i.work_id, i.repo_id, i.issue_id, i.issue_number, i.task_type, i.priority,
      q.turn + row_number() over (partition by i.repo_id, i.task_type, i.priority order by i.ord),
      i.attempt, i.max_attempts, i.held, svc_now() + i.run_after_ms * interval '1 ms', i.handover_run_id,
      i.compared_agent
    from input i
    join queue q on q.repo_id = i.repo_id and q.task_type = i.task_type and q.priority = i.priority`,
);

/**
 * Adds tasks of one tenant. Fairness between repos is computed here, so that the claim stays one index scan: a task's
 * turn follows the lowest waiting turn of its queue (tenant, type, priority) and the highest one of its own repo in
 * that queue, so repos alternate whatever the backlog of one of them. Two index probes per queue and repo of the batch.
 */
export async function enqueueTasks(tx: Db, tenantId: number, tasks: readonly NewTask[]): Promise<void> {
  const [first, ...others] = tasks;
  if (!first) return;
  if (others.length === 0) {
    await one.run(tx, { comparedAgent: ANY_AGENT, ...first, tenantId });
    return;
  }
  const rows = tasks.map((task): Row => ({ comparedAgent: ANY_AGENT, ...task }));
  const column = <K extends keyof Row>(key: K) => rows.map((row) => row[key]);
  await many.run(tx, {
    tenantId,
    id: column('id'),
    workId: column('workId'),
    repoId: column('repoId'),
    issueId: column('issueId'),
    issueNumber: column('issueNumber'),
    taskType: column('taskType'),
    priority: column('priority'),
    attempt: column('attempt'),
    maxAttempts: column('maxAttempts'),
    held: column('held'),
    runAfterMs: column('runAfterMs'),
    handoverRunId: column('handoverRunId'),
    comparedAgent: column('comparedAgent'),
  });
}
