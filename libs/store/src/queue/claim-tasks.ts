import { AGENT_OF, ANY_AGENT, type TaskType } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { inTransaction } from '../driver/transaction.ts';

/** A claimed task. */
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

/** The answer to one claimer. */
export interface ClaimAnswer {
  /** The worker is registered, with the presented token. */
  is_own: boolean;
  /** It got nothing because other claims held the tasks of the moment, or all its tokens are used: there may be more. */
  is_unsettled: boolean;
  /** Null = it may not claim, or there is no task for it. */
  task: Claimed | null;
}

interface ClaimOrder {
  taskTypes: readonly string[];
  /** Agents that the claimers run, absent = none; tasks of other agents are not claimed. */
  agents?: readonly string[];
  /** Null = all repos of the tenant. */
  repoIds: readonly number[] | null;
  /**
   * At most MAX_CLAIMERS. Each names hashes of the tokens that this claim may have, in the order of their use: while the
   * claim of one is valid, that one is the answer, else the first unused one is the token of the new claim.
   */
  claimers: readonly { workerId: string; tokenId: string | null; tokenHashes: readonly string[] }[];
  leaseMs: number;
  /** False = nothing is claimed; the claimers are checked, and get the valid claims of their tokens. */
  isOpen: boolean;
}

/** Tasks that one statement claims at most. */
export const MAX_CLAIMERS = 64;
/** Tasks that other claims may hold before this one looks in vain. */
const SPARE = 8;

/** @param isCounted the tenant's claims are locked, so that those of limited repos can be counted. */
const parametersOf = (tenantId: number, order: ClaimOrder, isCounted: boolean) => ({
  tenantId,
  taskTypes: order.taskTypes,
  agents: [ANY_AGENT, ...(order.agents ?? [])],
  repoIds: order.repoIds,
  workerIds: order.claimers.map(({ workerId }) => workerId),
  tokenIds: order.claimers.map(({ tokenId }) => tokenId),
  // The hashes of all claimers, and beside each the number of its claimer.
  tokenHashes: order.claimers.flatMap(({ tokenHashes }) => tokenHashes),
  claimerOf: order.claimers.flatMap(({ tokenHashes }, at) => tokenHashes.map(() => at + 1)),
  lease: `${order.leaseMs} ms`,
  isOpen: order.isOpen,
  isCounted,
});

type Order = ReturnType<typeof parametersOf>;

const ANY = sql.lit(ANY_AGENT);
const AGENTS = sql`${sql.lit(JSON.stringify(AGENT_OF))}::jsonb`;
const PLACE = sql`priority, turn, id`;

/**
 * The planner takes a limit that it does not know for a tenth of the rows. In a long queue it would then read all tasks
 * to update a few, and compile each claim just in time; the literal limit, which never cuts, bounds its estimate.
 */
const few = (rows: RawBuilder<unknown>) =>
  sql`(select ${PLACE} from (${rows}) unbounded limit ${sql.lit(MAX_CLAIMERS + SPARE)})`;

const LOOKED_AT = sql`(select case when count(*) = 0 then 0 else count(*) + ${sql.lit(SPARE)} end from ready)`;

/** The first tasks of each queue (type, agent) of the tenant, with `place` 1. */
const ofTenant = (p: Params<Order>) => sql`
    select first.priority, first.turn, first.id, 1 as place, null::bigint as room
    from wanted cross join lateral ${few(sql`
      select ${PLACE} from tasks
      where tenant_id = ${p('tenantId')} and task_type = wanted.task_type and compared_agent = wanted.agent
        and status = 'pending' and held is null
      order by ${PLACE} limit ${LOOKED_AT}`)} first`;

/** The first tasks of each queue (type, agent, repo), with their place in the repo, and how many claims it has room for. */
const ofRepos = (p: Params<Order>) => sql`
    select first.priority, first.turn, first.id, repo.room,
      row_number() over (partition by repo.id order by first.priority, first.turn, first.id) as place
    from wanted cross join (
      select r.id, r.pool_size - coalesce(claimed.n, 0) as room
      from repos r left join (
        select repo_id, count(*) as n from tasks
        where tenant_id = ${p('tenantId')} and status = 'claimed' group by repo_id
      ) claimed on claimed.repo_id = r.id
      where r.tenant_id = ${p('tenantId')} and r.unavailable is null
        and (${p('repoIds')}::bigint[] is null or r.id in (select unnest((select ${p('repoIds')}::bigint[]))))
    ) repo cross join lateral ${few(sql`
      select ${PLACE} from tasks
      where tenant_id = ${p('tenantId')} and task_type = wanted.task_type and compared_agent = wanted.agent
        and repo_id = repo.id and status = 'pending' and held is null
      order by ${PLACE} limit ${LOOKED_AT}`)} first
    where repo.room is null or repo.room > 0`;

/**
 * Checks the claimers, reads the first tasks of each queue without a lock, and locks in claim order until each claimer has
 * one: a task that another claim holds is skipped, so nothing is locked that is not claimed. Inserts the run and the event
 * of each claim. Limits of one row keep the planner from reading whole tables; sub-selects hide the lengths of lists from
 * it, as it would otherwise plan each claim again, at ten times the claim's own cost.
 */
const claiming = (p: Params<Order>, candidates: RawBuilder<unknown>) => sql<Record<string, unknown>>`
  with gate as materialized (
    select not ${p('isCounted')}::boolean and exists (select from repos
        where tenant_id = ${p('tenantId')} and (pool_size is not null or unavailable is not null)) as is_limited,
      exists (select from tasks where tenant_id = ${p('tenantId')} and compared_agent <> ${ANY}) as is_comparing
  ), token as materialized (
    select given.claimer, given.n, given.hash, r.id as run_id, t.id as task_id
    from unnest((select ${p('claimerOf')}::int[]), (select ${p('tokenHashes')}::text[]))
      with ordinality as given (claimer, hash, n)
    left join lateral (
      select id, task_id, status = 'claimed' and lease_expires_at > svc_now() as is_alive from runs
      where tenant_id = ${p('tenantId')} and claim_token_hash = given.hash limit 1
    ) r on true
    left join lateral (
      select id from tasks where tenant_id = ${p('tenantId')} and id = r.task_id and run_id = r.id and r.is_alive limit 1
    ) t on true
  ), claimer as materialized (
    select given.n, given.worker_id, valid.task_id, coalesce(valid.hash, unused.hash) as hash,
      w.id is not null and (w.token_id is null or given.token_id is null or w.token_id = given.token_id) as is_own,
      coalesce(w.draining or w.finishing, false) as is_draining
    from unnest((select ${p('workerIds')}::text[]), (select ${p('tokenIds')}::uuid[]))
      with ordinality as given (worker_id, token_id, n)
    left join workers w on w.tenant_id = ${p('tenantId')} and w.id = given.worker_id
    left join lateral (
      select task_id, hash from token t where t.claimer = given.n and task_id is not null order by t.n limit 1
    ) valid on true
    left join lateral (
      select hash from token t where t.claimer = given.n and run_id is null order by t.n limit 1
    ) unused on true
  ), ready as materialized (
    select row_number() over (order by n) as n, worker_id, hash from claimer cross join gate
    where ${p('isOpen')}::boolean and is_own and not is_draining and task_id is null and hash is not null and not is_limited
  ), wanted as materialized (
    select type.name as task_type, agent.name as agent
    from gate cross join unnest((select ${p('taskTypes')}::text[])) as type (name)
    cross join unnest((select ${p('agents')}::text[])) as agent (name)
    where is_comparing or agent.name = ${ANY}
  ), candidate as materialized (
    select ${PLACE} from (${candidates}) first where room is null or place <= room
    order by ${PLACE} limit ${sql.lit(MAX_CLAIMERS + SPARE)}
  ), head as materialized (
    select ${PLACE} from candidate cross join lateral (
      select from tasks where tenant_id = ${p('tenantId')} and tasks.id = candidate.id and status = 'pending'
        and held is null for update skip locked
    ) locked
    limit (select count(*) from ready)
  ), chosen as (
    select h.id, nextval('run_id_seq') as run_id, ready.worker_id, ready.hash
    from (select id, row_number() over (order by ${PLACE}) as n from head limit ${sql.lit(MAX_CLAIMERS)}) h
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
      ${AGENTS} ->> task_type, compared_agent, worker_id, hash, ready_at, claimed_at, lease_expires_at
    from claimed
  ), event as (
    insert into pipeline_events (tenant_id, repo_id, issue_id, issue_number, event_type, agent, payload)
    select ${p('tenantId')}, repo_id, issue_id, nullif(issue_number, 0), 'task_claimed', ${AGENTS} ->> task_type,
      jsonb_build_object(
        'taskId', id, 'taskType', task_type, 'attempt', attempt, 'workerId', worker_id, 'error', null)
    from claimed
  )
  select claimer.is_own, gate.is_limited,
    task.id is null and claimer.is_own and (claimer.hash is null or claimer.hash in (select hash from ready)
      and (select count(*) from head) < least((select count(*) from ready), (select count(*) from candidate))) as is_unsettled,
    task.id, task.work_id, task.run_id, claimer.hash as claim_token_hash, task.repo_id, task.issue_id, task.issue_number,
    task.task_type, task.priority, task.attempt, task.max_attempts, task.compared_agent, task.lease_expires_at
  from claimer cross join gate left join (
    select id, work_id, run_id, hash, repo_id, issue_id, issue_number, task_type, priority, attempt, max_attempts,
      compared_agent, lease_expires_at
    from claimed
    union all
    select t.id, t.work_id, t.run_id, c.hash, t.repo_id, t.issue_id, t.issue_number, t.task_type, t.priority, t.attempt,
      t.max_attempts, t.compared_agent, t.lease_expires_at
    from claimer c cross join lateral (
      select id, work_id, run_id, repo_id, issue_id, issue_number, task_type, priority, attempt, max_attempts,
        compared_agent, lease_expires_at
      from tasks where tenant_id = ${p('tenantId')} and id = c.task_id limit 1
    ) t
    where c.is_own
  ) task on task.hash = claimer.hash
  order by claimer.n`;

const inTenant = prepared('claim-tasks', (_db, p: Params<Order>) => claiming(p, ofTenant(p)));
const inRepos = prepared('claim-tasks-in-repos', (_db, p: Params<Order>) => claiming(p, ofRepos(p)));

// Without a FROM: a distributed store would take the lock on the node of the rows, where no other statement looks for it.
const lockLimits = prepared(
  'lock-claims-of-limited-repos',
  (_db, p: Params<{ tenantId: number }>) => sql`
    select pg_advisory_xact_lock(hashtextextended('pipeline.pool:' || ${p('tenantId')}::bigint, 0))::text as locked`,
);

/**
 * Claims the next tasks, at most one per claimer: lowest priority number first, then turn. One statement checks and claims,
 * so a request that finds no task costs one round trip: per wanted type and agent (and repo, for restricted workers) one
 * index scan, so its cost does not grow with the backlog. In a tenant with repos that limit their claims, or cannot be worked
 * on, that statement claims nothing and is repeated under the tenant's advisory lock, which is held until the commit: it
 * counts what other claims have committed, and reads the queue of each repo, so that a full one delays no other.
 * @returns an answer for each claimer, in order.
 * @throws RangeError for more than MAX_CLAIMERS claimers.
 */
export async function claimTasks(db: Db, tenantId: number, order: ClaimOrder): Promise<ClaimAnswer[]> {
  if (order.claimers.length > MAX_CLAIMERS)
    throw new RangeError(`${order.claimers.length} claimers exceed ${MAX_CLAIMERS}`);
  const uncounted = order.repoIds === null ? inTenant : inRepos;
  const rows = await uncounted.all(db, parametersOf(tenantId, order, false));
  if (!order.isOpen || !rows.some((row) => row.is_limited)) return rows.map(answerOf);
  return inTransaction(db, async (tx) => {
    const [, counted] = await Promise.all([
      lockLimits.run(tx, { tenantId }),
      inRepos.all(tx, parametersOf(tenantId, order, true)),
    ]);
    return counted.map(answerOf);
  });
}

function answerOf(row: Record<string, unknown>): ClaimAnswer {
  const { is_own, is_unsettled, is_limited: _, ...task } = row;
  return {
    is_own: is_own === true,
    is_unsettled: is_unsettled === true,
    task: task.id === null ? null : (task as unknown as Claimed),
  };
}
