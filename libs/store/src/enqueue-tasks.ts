import type { Hold, TaskType } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from './connection.ts';
import { type Params, prepared } from './prepared.ts';

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

type Columns = { [K in keyof NewTask]: NewTask[K][] } & { tenantId: number };

// `queue` is materialized: the probes must run once per queue and repo, before the first row is inserted. Pulled up into
// the insert they ran for each row and read the entries of all rows before it.
const enqueue = prepared(
  'enqueue-tasks',
  (_db, p: Params<Columns>) => sql`
    with input as (
      select id, work_id, repo_id, issue_id, issue_number, task_type, priority, attempt, max_attempts, held,
        run_after_ms, handover_run_id, ord
      from unnest(
        ${p('id')}::uuid[], ${p('workId')}::uuid[], ${p('repoId')}::bigint[], ${p('issueId')}::bigint[],
        ${p('issueNumber')}::integer[], ${p('taskType')}::text[], ${p('priority')}::integer[],
        ${p('attempt')}::integer[], ${p('maxAttempts')}::integer[], ${p('held')}::text[],
        ${p('runAfterMs')}::bigint[], ${p('handoverRunId')}::bigint[]
      ) with ordinality as t (id, work_id, repo_id, issue_id, issue_number, task_type, priority, attempt,
        max_attempts, held, run_after_ms, handover_run_id, ord)
    ), queue as materialized (
      select q.repo_id, q.task_type, q.priority, greatest(
        coalesce((select t.turn from tasks t where t.tenant_id = ${p('tenantId')} and t.task_type = q.task_type
          and t.priority = q.priority and t.status = 'pending' order by t.turn limit 1), 0),
        coalesce((select t.turn from tasks t where t.tenant_id = ${p('tenantId')} and t.repo_id = q.repo_id
          and t.task_type = q.task_type and t.priority = q.priority and t.status = 'pending'
          order by t.turn desc limit 1), 0)) as turn
      from (select distinct repo_id, task_type, priority from input) q
    )
    insert into tasks (tenant_id, id, work_id, repo_id, issue_id, issue_number, task_type, priority, turn, attempt,
      max_attempts, held, run_after, handover_run_id)
    select ${p('tenantId')}, i.id, i.work_id, i.repo_id, i.issue_id, i.issue_number, i.task_type, i.priority,
      q.turn + row_number() over (partition by i.repo_id, i.task_type, i.priority order by i.ord),
      i.attempt, i.max_attempts, i.held, svc_now() + i.run_after_ms * interval '1 ms', i.handover_run_id
    from input i
    join queue q on q.repo_id = i.repo_id and q.task_type = i.task_type and q.priority = i.priority`,
);

/**
 * Adds tasks of one tenant. Fairness between repos is made here, so that the claim stays one index scan: a task's
 * turn follows the lowest waiting turn of its queue (tenant, type, priority) and the highest one of its own repo in
 * that queue, so repos alternate however much one of them piles up. Two index probes per queue and
 * repo of the batch.
 */
export async function enqueueTasks(tx: Db, tenantId: number, tasks: readonly NewTask[]): Promise<void> {
  if (tasks.length === 0) return;
  const column = <K extends keyof NewTask>(key: K) => tasks.map((task) => task[key]);
  await enqueue.run(tx, {
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
  });
}
