import type { ErrorClass, TaskType } from '@pipeline/domain';
import { sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** A model call of a run. */
export interface RunCall {
  index: number;
  /** Null = not reported. */
  agent: string | null;
  model: string;
  provider: string;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  turns: number;
  /** USD; null = unreported. */
  costUsd: number | null;
  stopReason: string | null;
  /** Time at which it was first reported. */
  reportedAt: string;
}

/** A run that has ended, in whatever way. */
export interface FinishedRun {
  tenantId: number;
  runId: number;
  taskId: string;
  taskType: TaskType;
  attempt: number;
  /** The role of the task, such as `developer`. */
  role: string;
  workerId: string;
  repo: string;
  /** Null for a run without an issue. */
  issueId: number | null;
  issueNumber: number | null;
  issueCreatedAt: string | null;
  claimedAt: string;
  finishedAt: string;
  status: string;
  outcome: string | null;
  errorClass: ErrorClass | null;
  errorMessage: string | null;
  /** Calls in order. */
  calls: RunCall[];
  /** Its end in microseconds, for the cursor. */
  position: string;
}

const MAX_ERROR = 2_000;
/** Times in JavaScript have no microseconds. */
const POSITION = sql<string>`finished_at::text`.as('position');

/**
 * Runs that ended after the cursor and at least `settledMs` ago, oldest first. A transaction that ends runs lasts at
 * most that long, so none of them becomes visible behind the cursor. Cost: the rows of the answer, by index
 * runs_by_end.
 * @returns undefined on the first call of all, which sets the cursor to the present: the past is not exported.
 */
export async function nextFinishedRuns(
  fleet: Db,
  { settledMs, limit }: { settledMs: number; limit: number },
): Promise<FinishedRun[] | undefined> {
  const cursor = await fleet
    .selectFrom('trace_cursor')
    .select(['run_tenant_id', 'run_id', POSITION])
    .executeTakeFirst();
  if (!cursor) {
    await sql`
      insert into trace_cursor (finished_at, run_tenant_id, run_id) values (svc_now(), 0, 0)
      on conflict do nothing`.execute(fleet);
    return undefined;
  }
  const { rows } = await sql<FinishedRun>`
    ${fleetNote('one export serves all tenants')}
    with ended as materialized (
      select u.tenant_id, u.id, u.task_id, u.task_type, u.attempt, u.agent, u.worker_id, u.repo_id, u.issue_id, u.claimed_at,
        u.finished_at, u.status, u.outcome, u.error_class, u.error_message
      from runs u
      where u.finished_at is not null
        and (u.finished_at, u.tenant_id, u.id)
          > (${cursor.position}::timestamptz, ${cursor.run_tenant_id}::bigint, ${cursor.run_id}::bigint)
        and u.finished_at < svc_now() - ${msInterval(settledMs)}
      order by u.finished_at, u.tenant_id, u.id
      limit ${limit}
    ), calls as materialized (
      select a.tenant_id, a.run_id, json_agg(json_build_object(
        'index', a.invocation_index, 'agent', a.agent, 'model', a.model, 'provider', a.provider, 'inputTokens', a.input_tokens,
        'outputTokens', a.output_tokens, 'cacheReadTokens', a.cache_read_tokens,
        'cacheWriteTokens', a.cache_write_tokens, 'turns', a.turns, 'costUsd', a.cost_usd,
        'stopReason', a.stop_reason, 'reportedAt', a.created_at
      ) order by a.invocation_index) as of_run
      from ended r join agent_invocations a on a.tenant_id = r.tenant_id and a.run_id = r.id
      group by a.tenant_id, a.run_id
    )
    select r.tenant_id as "tenantId", r.id as "runId", r.task_id as "taskId", r.task_type as "taskType", r.attempt,
      r.agent as role, r.worker_id as "workerId", p.owner || '/' || p.name as repo, r.issue_id as "issueId",
      i.issue_number as "issueNumber", i.created_at as "issueCreatedAt", r.claimed_at as "claimedAt",
      r.finished_at as "finishedAt", r.status, r.outcome, r.error_class as "errorClass",
      left(r.error_message, ${sql.lit(MAX_ERROR)}) as "errorMessage", r.finished_at::text as position,
      coalesce(calls.of_run, '[]') as calls
    from ended r
    join repos p on p.tenant_id = r.tenant_id and p.id = r.repo_id
    left join issues i on i.tenant_id = p.tenant_id and i.id = r.issue_id
    left join calls on calls.tenant_id = p.tenant_id and calls.run_id = r.id
    order by r.finished_at, r.tenant_id, r.id`.execute(fleet);
  return rows;
}

/** Moves the cursor behind this run. */
export async function moveTraceCursor(fleet: Db, { position, tenantId, runId }: FinishedRun): Promise<void> {
  await sql`
    update trace_cursor set finished_at = ${position}::timestamptz, run_tenant_id = ${tenantId}, run_id = ${runId}`.execute(
    fleet,
  );
}
