import { type RawBuilder, sql } from 'kysely';
import type { Params } from '../driver/prepared.ts';

/** Tasks that one statement claims at most. */
export const MAX_CLAIMERS = 64;

/** Parameters of a statement that claims. */
export interface Claim {
  tenantId: number;
  taskTypes: readonly string[];
  /** Agents, with the one that stands for any agent. */
  agents: readonly string[];
  workerIds: readonly string[];
  tokenHashes: readonly string[];
  lease: string;
}

export type ClaimInRepos = Claim & { repoIds: readonly number[] };

/** A query of the tasks (id, priority, turn) that a statement claims, one for each row of `ready`. */
export type Heads = (p: Params<Claim>, scope: Scope, agents: RawBuilder<unknown>) => RawBuilder<unknown>;

/**
 * The planner takes a limit that it does not know for a tenth of the rows. In a long queue it would then read all tasks
 * to update a few, and compile each claim just in time; the literal limit, which never cuts, bounds its estimate.
 */
const few = (columns: RawBuilder<unknown>, rows: RawBuilder<unknown>) =>
  sql`select ${columns} from (${rows}) unbounded limit ${sql.lit(MAX_CLAIMERS)}`;

/** A part of the queue in claim order: all repos, or one of those that a worker is restricted to. */
export interface Scope {
  /** The key of a queue. */
  readonly columns: RawBuilder<unknown>;
  /** SQL that follows the wanted types and agents in the list of queues. */
  readonly repos: RawBuilder<unknown>;
  /** The condition on the repo of a task, for a row of `alias`. */
  of(alias: string): RawBuilder<unknown>;
}

export const wholeTenant: Scope = { columns: sql`task_type, compared_agent`, repos: sql``, of: () => sql`` };
export const someRepos = (p: Params<ClaimInRepos>): Scope => ({
  columns: sql`task_type, compared_agent, repo_id`,
  repos: sql`cross join unnest((select ${p('repoIds')}::bigint[])) as repo (repo_id)`,
  of: (alias) => sql`and repo_id = ${sql.ref(`${alias}.repo_id`)}`,
});

/** Columns that the claim order compares. */
const PLACE = sql`priority, turn, id`;

/** The rows of the CTE `head` with their number n in claim order. */
export const NUMBERED_HEADS = few(sql`id, n`, sql`select id, row_number() over (order by ${PLACE}) as n from head`);

/**
 * Claims one task: reads the head of each queue without a lock, then locks in the best queue and goes on to the next
 * only if other claims hold all of it, so concurrent claims do not lock tasks that they do not take. `limit 1` is
 * literal and sub-selects hide the lengths of lists from the planner: it would otherwise plan each claim again, at ten
 * times the claim's own cost.
 */
export const oneHead = (p: Params<Claim>, { columns, repos, of }: Scope, agents: RawBuilder<unknown>) => sql`
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
export const manyHeads = (p: Params<Claim>, { columns, repos, of }: Scope, agents: RawBuilder<unknown>) => {
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
