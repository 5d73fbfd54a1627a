import { AGENT_OF, ANY_AGENT, type TaskType } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type Params, type PreparedStatement, prepared } from '../driver/prepared.ts';

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

/** One task requested by a worker, with its own claim token. */
export interface Claimer {
  workerId: string;
  tokenHash: string;
}

export interface ClaimInput {
  taskTypes: readonly string[];
  /** Agents that the claimers run, absent = none; tasks of other agents are not claimed. */
  agents?: readonly string[];
  /** Null = all repos of the tenant. */
  repoIds: readonly number[] | null;
  /** At most MAX_CLAIMERS. The claim returns at most this many tasks, the first ones to the first claimers. */
  claimers: readonly Claimer[];
  leaseMs: number;
}

export interface Claim {
  tenantId: number;
  taskTypes: readonly string[];
  /** With the one that stands for any agent. */
  agents: readonly string[];
  workerIds: readonly string[];
  tokenHashes: readonly string[];
  lease: string;
}

/** Tasks that one statement claims at most. */
export const MAX_CLAIMERS = 64;

export type ClaimInRepos = Claim & { repoIds: readonly number[] };

/** Who may claim what, and the answer: the parts in which statements that claim differ. */
interface Claiming {
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
 * The planner takes a limit that it does not know for a tenth of the rows. In a long queue it would then read all tasks
 * to update a few, and compile each claim just in time; the literal limit, which never cuts, bounds its estimate.
 */
const few = (columns: RawBuilder<unknown>, rows: RawBuilder<unknown>) =>
  sql`select ${columns} from (${rows}) unbounded limit ${sql.lit(MAX_CLAIMERS)}`;

const claimOf = (p: Params<Claim>, heads: RawBuilder<unknown>, { ctes, answer }: Claiming): RawBuilder<unknown> => sql`
  with ${ctes}, head as (${heads}),
  chosen as (
    select h.id, nextval('run_id_seq') as run_id, ready.worker_id, ready.hash
    from (${few(sql`id, n`, sql`select id, row_number() over (order by priority, turn, id) as n from head`)}) h
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
  ), delta as (
    insert into rollup_deltas (tenant_id, repo_id, body)
    select ${p('tenantId')}, repo_id, jsonb_build_object('events', jsonb_agg(
      jsonb_build_object('type', 'task_claimed', 'task', task_type, 'n', 1)))
    from claimed group by repo_id
  )
  ${answer}`;

/** A part of the queue in claim order: all repos, or one of those that a worker is restricted to. */
interface Scope {
  /** The key of a queue. */
  readonly columns: RawBuilder<unknown>;
  /** SQL that follows the wanted types and agents in the list of queues. */
  readonly repos: RawBuilder<unknown>;
  /** The condition on the repo of a task, for a row of `alias`. */
  of(alias: string): RawBuilder<unknown>;
}

const wholeTenant: Scope = { columns: sql`task_type, compared_agent`, repos: sql``, of: () => sql`` };
const someRepos = (p: Params<ClaimInRepos>): Scope => ({
  columns: sql`task_type, compared_agent, repo_id`,
  repos: sql`cross join unnest((select ${p('repoIds')}::bigint[])) as repo (repo_id)`,
  of: (alias) => sql`and repo_id = ${sql.ref(`${alias}.repo_id`)}`,
});

/**
 * Claims one task: reads the head of each queue without a lock, then locks in the best queue and goes on to the next
 * only if other claims hold all of it, so concurrent claims do not lock tasks that they do not take. `limit 1` is
 * literal and sub-selects hide the lengths of lists from the planner: it would otherwise plan each claim again, at ten
 * times the claim's own cost.
 */
const oneHead = (p: Params<Claim>, { columns, repos, of }: Scope, agents: RawBuilder<unknown>) => sql`
  select t.id, t.priority, t.turn
  from (
    select ${columns}, first.priority, first.turn, first.id
    from unnest((select ${p('taskTypes')}::text[])) as wanted (task_type)
    cross join unnest((${agents})) as agent (compared_agent) ${repos}
    cross join lateral (
      select priority, turn, id from tasks
      where tenant_id = ${p('tenantId')} and task_type = wanted.task_type
        and compared_agent = agent.compared_agent ${of('repo')}
        and status = 'pending' and held is null
      order by priority, turn, id limit 1
    ) first
    order by first.priority, first.turn, first.id
  ) queue
  cross join lateral (
    select id, priority, turn from tasks
    where tenant_id = ${p('tenantId')} and task_type = queue.task_type
      and compared_agent = queue.compared_agent ${of('queue')}
      and status = 'pending' and held is null
    order by priority, turn, id limit 1 for update skip locked
  ) t
  where exists (select from ready)
  limit 1`;

const AS_MANY = sql`(select count(*) from ready)`;

/**
 * Claims as many tasks as there are ready claimers: counts without a lock how many of them each queue contributes, then locks
 * so many in each, so nothing is locked that is not claimed. Sub-selects hide the lengths of lists from the planner,
 * which otherwise makes a plan per call.
 */
const manyHeads = (p: Params<Claim>, { columns, repos, of }: Scope, agents: RawBuilder<unknown>) => {
  const first = sql`
    select priority, turn, id from tasks
    where tenant_id = ${p('tenantId')} and task_type = wanted.task_type
      and compared_agent = agent.compared_agent ${of('repo')}
      and status = 'pending' and held is null
    order by priority, turn, id limit ${AS_MANY}`;
  const wanted = sql`
    select ${columns}
    from unnest((select ${p('taskTypes')}::text[])) as wanted (task_type)
    cross join unnest((${agents})) as agent (compared_agent) ${repos}
    cross join lateral (${few(PLACE, first)}) first
    order by first.priority, first.turn, first.id limit ${AS_MANY}`;
  const locked = sql`
    select priority, turn, id from tasks
    where tenant_id = ${p('tenantId')} and task_type = queue.task_type
      and compared_agent = queue.compared_agent ${of('queue')}
      and status = 'pending' and held is null
    order by priority, turn, id limit queue.n for update skip locked`;
  return sql`
    select t.id, t.priority, t.turn
    from (select ${columns}, count(*) as n from (${few(columns, wanted)}) wanted group by ${columns}) queue
    cross join lateral (${few(PLACE, locked)}) t`;
};

/** What the claim order compares. */
const PLACE = sql`priority, turn, id`;

/** The statements of one way to claim: for one claimer or several, in all repos or some. */
interface ClaimStatements<P extends object, R> {
  one: PreparedStatement<P & Claim, R>;
  oneInRepos: PreparedStatement<P & ClaimInRepos, R>;
  many: PreparedStatement<P & Claim, R>;
  manyInRepos: PreparedStatement<P & ClaimInRepos, R>;
}

type Heads = (p: Params<Claim>, scope: Scope, agents: RawBuilder<unknown>) => RawBuilder<unknown>;

/** @param name of the first one; unique in the store. */
export function claimStatements<P extends object, R>(
  name: string,
  claimingOf: (p: Params<P & Claim>) => Claiming,
): ClaimStatements<P, R> {
  const statement = (p: Params<P & Claim>, heads: Heads, scope: Scope) => {
    const claiming = claimingOf(p);
    return claimOf(p, heads(p, scope, claiming.agents), claiming) as RawBuilder<R>;
  };
  return {
    one: prepared(name, (_db, p: Params<P & Claim>) => statement(p, oneHead, wholeTenant)),
    oneInRepos: prepared(`${name}-in-repos`, (_db, p: Params<P & ClaimInRepos>) => statement(p, oneHead, someRepos(p))),
    many: prepared(`${name}s`, (_db, p: Params<P & Claim>) => statement(p, manyHeads, wholeTenant)),
    manyInRepos: prepared(`${name}s-in-repos`, (_db, p: Params<P & ClaimInRepos>) =>
      statement(p, manyHeads, someRepos(p)),
    ),
  };
}

/** @throws RangeError for more than MAX_CLAIMERS claimers. */
export function runClaim<P extends object, R>(
  { one, oneInRepos, many, manyInRepos }: ClaimStatements<P, R>,
  db: Db,
  { tenantId, input, more }: { tenantId: number; input: ClaimInput; more: P },
): Promise<R[]> {
  const { taskTypes, agents = [], repoIds, claimers, leaseMs } = input;
  if (claimers.length > MAX_CLAIMERS) throw new RangeError(`${claimers.length} claimers exceed ${MAX_CLAIMERS}`);
  const isOne = claimers.length === 1;
  const workerIds = claimers.map(({ workerId }) => workerId);
  const tokenHashes = claimers.map(({ tokenHash }) => tokenHash);
  const lease = `${leaseMs} ms`;
  const claim = { ...more, tenantId, taskTypes, agents: [ANY_AGENT, ...agents], workerIds, tokenHashes, lease };
  if (repoIds === null) return (isOne ? one : many).all(db, claim);
  return (isOne ? oneInRepos : manyInRepos).all(db, { ...claim, repoIds });
}
