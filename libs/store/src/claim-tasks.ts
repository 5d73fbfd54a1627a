import { AGENT_OF, type TaskType } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from './connection.ts';
import { type Params, prepared } from './prepared.ts';

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

interface Claim {
  tenantId: number;
  workerId: string;
  taskTypes: readonly string[];
  tokenHashes: readonly string[];
  lease: string;
}

type ClaimInRepos = Claim & { repoIds: readonly number[] };
type ClaimMany = { limit: number };

const AGENTS = JSON.stringify(AGENT_OF);

const claimOf = (p: Params<Claim>, heads: RawBuilder<unknown>): RawBuilder<Claimed> => sql`
  with head as (${heads}),
  chosen as (
    select h.id, nextval('run_id_seq') as run_id, token.hash
    from (select id, row_number() over (order by priority, turn, id) as n from head) h
    join unnest(${p('tokenHashes')}::text[]) with ordinality as token (hash, n) on token.n = h.n
  ), claimed as (
    update tasks t
    set status = 'claimed', claimed_by = ${p('workerId')}, claimed_at = svc_now(), started_at = null,
      progress_at = svc_now(), run_id = c.run_id,
      lease_expires_at = svc_now() + ${p('lease')}::interval
    from chosen c
    where t.tenant_id = ${p('tenantId')} and t.id = c.id
    returning t.id, t.work_id, t.run_id, c.hash, t.repo_id, t.issue_id, t.issue_number, t.task_type, t.priority,
      t.attempt, t.max_attempts, t.claimed_at, t.lease_expires_at
  ), run as (
    insert into runs (tenant_id, id, task_id, work_id, repo_id, issue_id, issue_number, task_type, attempt, agent,
      worker_id, claim_token_hash, claimed_at, lease_expires_at)
    select ${p('tenantId')}, run_id, id, work_id, repo_id, issue_id, issue_number, task_type, attempt,
      ${sql.lit(AGENTS)}::jsonb ->> task_type, ${p('workerId')}, hash, claimed_at, lease_expires_at from claimed
  ), event as (
    insert into pipeline_events (tenant_id, repo_id, issue_id, issue_number, event_type, agent, payload)
    select ${p('tenantId')}, repo_id, issue_id, nullif(issue_number, 0), 'task_claimed',
      ${sql.lit(AGENTS)}::jsonb ->> task_type,
      jsonb_build_object(
        'taskId', id, 'taskType', task_type, 'attempt', attempt, 'workerId', ${p('workerId')}::text, 'error', null)
    from claimed
  )
  select id, work_id, run_id, hash as claim_token_hash, repo_id, issue_id, issue_number, task_type, priority, attempt,
    max_attempts, lease_expires_at
  from claimed order by priority, run_id`;

function headsOfTenant(p: Params<Claim>, limit: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select t.id, t.priority, t.turn
    from unnest(${p('taskTypes')}::text[]) as wanted (task_type)
    cross join lateral (
      select id, priority, turn from tasks
      where tenant_id = ${p('tenantId')} and task_type = wanted.task_type and status = 'pending' and held is null
      order by priority, turn, id limit ${limit} for update skip locked
    ) t
    order by t.priority, t.turn, t.id limit ${limit}`;
}

function headsOfRepos(p: Params<ClaimInRepos>, limit: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select t.id, t.priority, t.turn
    from unnest(${p('taskTypes')}::text[]) as wanted (task_type)
    cross join unnest(${p('repoIds')}::bigint[]) as repo (id)
    cross join lateral (
      select id, priority, turn from tasks
      where tenant_id = ${p('tenantId')} and repo_id = repo.id and task_type = wanted.task_type
        and status = 'pending' and held is null
      order by priority, turn, id limit ${limit} for update skip locked
    ) t
    order by t.priority, t.turn, t.id limit ${limit}`;
}

// A claim of one says `limit 1`: for a limit that is a parameter the server plans each claim anew, which costs more than
// the claim itself. Claims of many, which no worker sends, may pay that.
const ONE = sql`1`;
const statements = {
  one: prepared('claim-task', (_db, p: Params<Claim>) => claimOf(p, headsOfTenant(p, ONE))),
  many: prepared('claim-tasks', (_db, p: Params<Claim & ClaimMany>) => claimOf(p, headsOfTenant(p, p('limit')))),
  oneInRepos: prepared('claim-task-in-repos', (_db, p: Params<ClaimInRepos>) => claimOf(p, headsOfRepos(p, ONE))),
  manyInRepos: prepared('claim-tasks-in-repos', (_db, p: Params<ClaimInRepos & ClaimMany>) =>
    claimOf(p, headsOfRepos(p, p('limit'))),
  ),
};

/**
 * Claims the tasks whose turn it is, at most one per token hash: lowest priority number first, then turn. One statement:
 * per wanted type (and repo, for restricted workers) one index scan that skips what others are claiming, so its cost
 * does not grow with the backlog. Each claim gets its run and its event in the same statement.
 */
export function claimTasks(db: Db, tenantId: number, input: ClaimInput): Promise<Claimed[]> {
  const { workerId, taskTypes, repoIds, tokenHashes, leaseMs } = input;
  const limit = tokenHashes.length;
  const claim = { tenantId, workerId, taskTypes, tokenHashes, lease: `${leaseMs} ms` };
  if (repoIds === null)
    return limit === 1 ? statements.one.all(db, claim) : statements.many.all(db, { ...claim, limit });
  const inRepos = { ...claim, repoIds };
  return limit === 1 ? statements.oneInRepos.all(db, inRepos) : statements.manyInRepos.all(db, { ...inRepos, limit });
}
