import { AGENT_OF, type TaskType } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Params } from '../driver/prepared.ts';

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
  /** The agent that must do the task; '' = any. */
  compared_agent: string;
  lease_expires_at: string;
}

/** Parts in which statements that claim differ: the tasks to claim, their agents, and the answer. */
export interface Claiming {
  /** CTEs, of which `ready` (n, worker_id, hash) has a row for each task to claim; n counts them from 1. */
  ctes: RawBuilder<unknown>;
  /** A query of the agents whose compared tasks are claimed, as an array. */
  agents: RawBuilder<unknown>;
  /** The final query, of `claimed` and these CTEs. */
  answer: RawBuilder<unknown>;
}

/** The columns of an answer, of which `claim_token_hash` is called `hash` in `claimed`. */
export const CLAIMED = sql`id, work_id, run_id, claim_token_hash, repo_id, issue_id, issue_number, task_type, priority,
    attempt, max_attempts, compared_agent, lease_expires_at`;
export const claimedRows = sql`
    select id, work_id, run_id, hash as claim_token_hash, repo_id, issue_id, issue_number, task_type, priority, attempt,
      max_attempts, compared_agent, lease_expires_at
    from claimed`;

const AGENTS = JSON.stringify(AGENT_OF);

/**
 * Claims tasks, and inserts the run and the event of each claim.
 * @param heads the tasks to claim (id, priority, turn), locked.
 * @param numbered these, as the CTE `head`, with their number n in claim order.
 */
export const claimOf = (
  p: Params<{ tenantId: number; lease: string }>,
  [heads, numbered]: readonly [heads: RawBuilder<unknown>, numbered: RawBuilder<unknown>],
  { ctes, answer }: Claiming,
): RawBuilder<unknown> => sql`
  with ${ctes}, head as (${heads}),
  chosen as (
    select h.id, nextval('run_id_seq') as run_id, ready.worker_id, ready.hash
    from (${numbered}) h
    join ready on ready.n = h.n
  ), claimed as (
    update tasks t
    set status = 'claimed', claimed_by = c.worker_id, claimed_at = svc_now(), started_at = null,
      progress_at = svc_now(), run_id = c.run_id,
      lease_expires_at = svc_now() + ${p('lease')}::interval
    from chosen c
    where t.tenant_id = ${p('tenantId')} and t.id = c.id
    returning t.id, t.work_id, t.run_id, c.worker_id, c.hash, t.repo_id, t.issue_id, t.issue_number, t.task_type, t.priority,
      t.attempt, t.max_attempts, t.compared_agent, t.ready_at, t.claimed_at, t.lease_expires_at
  ), run as (
    insert into runs (tenant_id, id, task_id, work_id, repo_id, issue_id, issue_number, task_type, attempt, agent,
      compared_agent, worker_id, claim_token_hash, ready_at, claimed_at, lease_expires_at)
    select ${p('tenantId')}, run_id, id, work_id, repo_id, issue_id, issue_number, task_type, attempt,
      ${sql.lit(AGENTS)}::jsonb ->> task_type, compared_agent, worker_id, hash, ready_at, claimed_at, lease_expires_at
    from claimed
  ), event as (
    insert into pipeline_events (tenant_id, repo_id, issue_id, issue_number, event_type, agent, payload)
    select ${p('tenantId')}, repo_id, issue_id, nullif(issue_number, 0), 'task_claimed',
      ${sql.lit(AGENTS)}::jsonb ->> task_type,
      jsonb_build_object(
        'taskId', id, 'taskType', task_type, 'attempt', attempt, 'workerId', worker_id, 'error', null)
    from claimed
  )
  ${answer}`;
