import { IN_FLIGHT_STATES, type State } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { type Reach, type ReadScope, reachableRepo, reachOf } from '../accounts/org-scope.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote, jsonList, wireTime } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { StateTransition } from './issue-why.ts';

/** A timeline entry of an issue, from any of its source tables. */
export interface TimelineEntry {
  id: string;
  timestamp: string;
  kind: 'transition' | 'agent-run' | 'event' | 'cost' | 'projection' | 'finding' | 'operator-action' | 'dead-letter';
  title: string;
  agent: string | null;
  actorType: 'agent' | 'workflow-engine' | 'operator' | 'system' | null;
  actorId: string | null;
  fromState: State | null;
  toState: State | null;
  status: string | null;
  taskId: string | null;
  runId: number | null;
  prNumber: number | null;
  durationMs: number | null;
  costUsd: number | null;
  error: string | null;
  details: Record<string, unknown> | null;
}

/** In the order of the union; columns that a source does not have are null. */
const COLUMNS = {
  id: 'text',
  at: 'timestamptz',
  kind: 'text',
  title: 'text',
  agent: 'text',
  actor_type: 'text',
  actor_id: 'text',
  from_state: 'text',
  to_state: 'text',
  status: 'text',
  task_id: 'uuid',
  run_id: 'bigint',
  pr_number: 'integer',
  duration_ms: 'bigint',
  cost_usd: 'numeric',
  error: 'text',
  details: 'jsonb',
} as const;

type Columns = Partial<Record<keyof typeof COLUMNS, RawBuilder<unknown>>>;

interface Source {
  columns: Columns;
  from: RawBuilder<unknown>;
  /** Order by the index that finds the rows, newest first. */
  newestFirst: RawBuilder<unknown>;
}

const kind = (name: TimelineEntry['kind']) => sql.lit(name);

/** The tenant of the issue `i`: a parameter in a statement of one tenant, which then runs on one shard. */
type Tenant = RawBuilder<unknown>;

/** Selects rows of the issue `i`. */
const ofIssue = (alias: string, tenant: Tenant) => sql`
  ${sql.ref(`${alias}.tenant_id`)} = ${tenant} and ${sql.ref(`${alias}.issue_id`)} = i.id`;
const ms = (from: string, to: string) => sql`extract(epoch from ${sql.ref(to)} - ${sql.ref(from)}) * 1000`;

/** The cost of the run `r`; null when none of its calls has a known cost. One probe for a run without cost events. */
const runCost = (tenant: Tenant) => sql`
  case when r.cost_usd > 0 or exists (
    select from agent_invocations a
    where a.tenant_id = ${tenant} and a.run_id = r.id and a.cost_usd is not null
  ) then r.cost_usd end`;

/** Every source by an index that begins with the tenant and the issue. */
const sourcesOf = (tenant: Tenant): Source[] => [...workSources(tenant), ...recordSources(tenant)];

const workSources = (tenant: Tenant): Source[] => [
  {
    columns: {
      id: sql`'transition-' || m.id`,
      at: sql`m.at`,
      kind: kind('transition'),
      title: sql`'moved to ' || m.to_state`,
      agent: sql`m.agent`,
      actor_type: sql`m.actor_type`,
      actor_id: sql`m.actor_id`,
      from_state: sql`m.from_state`,
      to_state: sql`m.to_state`,
      duration_ms: sql`m.duration_in_from_ms`,
      details: sql`jsonb_build_object('trigger', m.trigger, 'reason', m.reason, 'forced', m.forced)`,
    },
    from: sql`transitions m where ${ofIssue('m', tenant)}`,
    newestFirst: sql`m.id desc`,
  },
  {
    columns: {
      id: sql`'run-' || r.id`,
      at: sql`r.claimed_at`,
      kind: kind('agent-run'),
      title: sql`r.task_type || ' by ' || r.agent`,
      agent: sql`r.agent`,
      actor_type: sql`'agent'`,
      actor_id: sql`r.worker_id`,
      status: sql`coalesce(r.outcome, r.status)`,
      task_id: sql`r.task_id`,
      run_id: sql`r.id`,
      duration_ms: ms('r.claimed_at', 'r.finished_at'),
      cost_usd: runCost(tenant),
      error: sql`left(r.error_message, 2000)`,
    },
    from: sql`runs r where ${ofIssue('r', tenant)}`,
    newestFirst: sql`r.id desc`,
  },
];

const recordSources = (tenant: Tenant): Source[] => [
  {
    columns: {
      id: sql`'event-' || e.id`,
      at: sql`e.created_at`,
      title: sql`left(e.status, 300)`,
      status: sql`e.status`,
      kind: sql`case e.actor_type when 'operator' then ${kind('operator-action')} else ${kind('event')} end`,
      actor_type: sql`e.actor_type`,
      actor_id: sql`e.actor_id`,
      to_state: sql`e.state`,
      details: sql`e.details`,
    },
    // Transitions have their own source.
    from: sql`issue_events e where ${ofIssue('e', tenant)} and not coalesce(e.details ? 'trigger', false)`,
    newestFirst: sql`e.created_at desc, e.id desc`,
  },
  {
    columns: {
      id: sql`'projection-' || p.id`,
      at: sql`p.created_at`,
      kind: kind('projection'),
      title: sql`(p.action ->> 'type') || ' on the host'`,
      status: sql`p.status`,
      error: sql`left(p.error, 2000)`,
    },
    from: sql`projections p where p.tenant_id = ${tenant} and p.repo_id = i.repo_id and p.issue_number = i.issue_number`,
    newestFirst: sql`p.id desc`,
  },
  {
    columns: {
      id: sql`'finding-' || f.id`,
      at: sql`f.created_at`,
      kind: kind('finding'),
      title: sql`left(f.title, 300)`,
      agent: sql`f.agent_name`,
      status: sql`f.status`,
      run_id: sql`f.run_id`,
      pr_number: sql`f.pr_number`,
      details: sql`jsonb_build_object('severity', f.severity, 'blocksProgress', f.blocks_progress)`,
    },
    from: sql`findings f where ${ofIssue('f', tenant)}`,
    newestFirst: sql`f.created_at desc, f.id`,
  },
  {
    columns: {
      id: sql`'dead-letter-' || d.id`,
      at: sql`d.created_at`,
      kind: kind('dead-letter'),
      title: sql`'could not move to ' || d.target_state`,
      agent: sql`d.agent_name`,
      from_state: sql`d.from_state`,
      status: sql`coalesce(d.resolution, 'open')`,
      error: sql`left(d.error, 2000)`,
    },
    from: sql`dead_letters d where ${ofIssue('d', tenant)}`,
    newestFirst: sql`d.created_at desc`,
  },
];

/** Selects every entry of the issue `i`, unordered. */
const entriesOfIssue = (tenant: Tenant): RawBuilder<unknown> =>
  sql.join(
    sourcesOf(tenant).map(({ columns, from }) => sql`select ${listed(columns)} from ${from}`),
    sql` union all `,
  );

/** Selects the newest entries of the issue `i`: reads and returns at most `limit` rows of each source. */
const newestEntriesOfIssue = (tenant: Tenant, limit: number): RawBuilder<unknown> =>
  sql.join(
    sourcesOf(tenant).map(
      ({ columns, from, newestFirst }) =>
        sql`(select ${listed(columns)} from ${from} order by ${newestFirst} limit ${sql.lit(limit)})`,
    ),
    sql` union all `,
  );

function listed(columns: Columns): RawBuilder<unknown> {
  const names = Object.entries(COLUMNS) as [keyof typeof COLUMNS, string][];
  return sql.join(
    names.map(([name, type]) => sql`(${columns[name] ?? sql`null`})::${sql.raw(type)} as ${sql.ref(name)}`),
  );
}

const MAX_TEXT = 2_000;
const shortText = (text: RawBuilder<unknown>) => sql`left(${text}, ${sql.lit(MAX_TEXT)})`;

/**
 * Selects the entries `t` in the format of the API.
 * @param isShort texts are truncated to 2,000 characters, and longer details are null.
 */
function entryJson(isShort: boolean): RawBuilder<unknown> {
  const status = isShort ? shortText(sql`t.status`) : sql`t.status`;
  const details = isShort
    ? sql`case when length(t.details::text) <= ${sql.lit(MAX_TEXT)} then t.details end`
    : sql`t.details`;
  return sql`
    select t.id, ${wireTime('t.at')} as timestamp, t.kind, t.title, t.agent, t.actor_type as "actorType",
      t.actor_id as "actorId", t.from_state as "fromState", t.to_state as "toState", ${status} as status,
      t.task_id as "taskId", t.run_id as "runId", t.pr_number as "prNumber", t.duration_ms as "durationMs",
      trim_scale(round(t.cost_usd, 4)) as "costUsd", t.error, ${details} as details`;
}

/** Selects the timeline's fields from the issue `i`, and its newest transitions, oldest first. */
const timelineHead = (tenant: Tenant, maxTransitions: number, isShort: boolean): RawBuilder<unknown> => sql`
  i.issue_number as "issueNumber", i.title, i.state as "currentState", i.is_paused as "isPaused",
  i.is_blocked as "isBlocked", trim_scale(round(i.cost_usd, 4)) as "totalCostUsd",
  i.unreported_costs as "unreportedCosts",
  (extract(epoch from case i.state when 'done' then i.state_entered_at else svc_now() end - i.created_at) * 1000)::bigint
    as "totalDurationMs",
  ${newestTransitions(tenant, maxTransitions, isShort)} as "stateTransitions"`;

const newestTransitions = (tenant: Tenant, limit: number, isShort: boolean): RawBuilder<unknown> =>
  jsonList(
    sql`
    select m.from_state as "from", m.to_state as "to", ${wireTime('m.at')} as at, m.agent, m.actor_type as "actorType",
      m.actor_id as "actorId", ${isShort ? shortText(sql`m.reason`) : sql`m.reason`} as reason, m.forced,
      m.duration_in_from_ms as "durationInFromMs"
    from (
      select t.id, t.from_state, t.to_state, t.at, t.agent, t.actor_type, t.actor_id, t.reason, t.forced,
        t.duration_in_from_ms
      from transitions t where ${ofIssue('t', tenant)} order by t.id desc limit ${sql.lit(limit)}
    ) m order by m.id`,
    limit,
  );

export interface TimelineRow {
  repo: string;
  now: string;
  /** Null for an issue that the pipeline has no record of. */
  issue: {
    issueNumber: number;
    title: string;
    currentState: State;
    isPaused: boolean;
    isBlocked: boolean;
    totalCostUsd: number;
    /** Number of model calls whose cost is unreported. */
    unreportedCosts: number;
    totalDurationMs: number;
    stateTransitions: StateTransition[];
    /** One page of entries, oldest first. */
    entries: TimelineEntry[];
    total: number;
  } | null;
}

const MAX_MOVES = 1_000;

type Query = Reach & { number: number; limit: number; offset: number };

const timeline = prepared(
  'timeline-of-issue',
  (_db, p: Params<Query>) => sql<TimelineRow>`
    with repo as (${reachableRepo(p)})
    select repo.owner || '/' || repo.name as repo, svc_now() as now, found.issue
    from repo
    left join lateral (
      select of_issue.issue from issues i cross join lateral (
        select row_to_json(f) as issue from (select
          ${timelineHead(p('tenantId'), MAX_MOVES, false)},
          (select count(*) from (${entriesOfIssue(p('tenantId'))}) t) as total,
          (select coalesce(json_agg(q), '[]') from (
            ${entryJson(false)} from (${entriesOfIssue(p('tenantId'))}) t order by t.at, t.id limit ${p('limit')} offset ${p('offset')}) q) as entries
        ) f
      ) of_issue
      where i.tenant_id = ${p('tenantId')} and i.repo_id = repo.id and i.issue_number = ${p('number')}
    ) found on true`,
);

/**
 * The timeline of an issue, oldest first. Costs all entries of the issue. @returns undefined for a repo out of scope.
 */
export const issueTimeline = (
  read: Db,
  scope: ReadScope,
  { slug, ...page }: { slug: string; number: number; limit: number; offset: number },
): Promise<TimelineRow | undefined> => timeline.first(read, { ...reachOf(scope, slug), ...page });

/** The newest part of an issue's timeline. */
export interface TimelineInFlight {
  tenantId: number;
  repoId: number;
  /** Slug in the spelling of the host. */
  repo: string;
  now: string;
  issue: Omit<NonNullable<TimelineRow['issue']>, 'total'>;
}

/** Limits of a read. */
interface TimelineBounds {
  issues: number;
  /** Entries per issue; the same limit applies to transitions. */
  entries: number;
}

/**
 * Returns the timelines of the issues of enabled repos in flight (IN_FLIGHT_STATES), latest state entry first. One
 * statement for the list of issues, and one for each of their tenants. Cost is limited by `bounds` and does not grow
 * with the history: the issues are the ends of the ranges of the index issue_list_in_state, and each source reads at
 * most `entries` rows by its index.
 */
export async function timelinesInFlight(fleet: Db, bounds: TimelineBounds): Promise<TimelineInFlight[]> {
  const { rows: wanted } = await inFlightStatement(bounds.issues).execute(fleet);
  const byTenant = Map.groupBy(wanted, (issue) => issue.tenant_id);
  const found = await Promise.all(
    [...byTenant].map(async ([tenantId, its]) => {
      const ids = its.map((issue) => issue.id);
      const { rows } = await timelinesStatement(tenantId, ids, bounds.entries).execute(fleet);
      return rows.map(({ id, ...timeline }) => [`${tenantId} ${id}`, timeline] as const);
    }),
  );
  const byKey = new Map(found.flat());
  return wanted.flatMap(({ tenant_id, id }) => byKey.get(`${tenant_id} ${id}`) ?? []);
}

const inFlightStatement = (issues: number): RawBuilder<{ tenant_id: number; id: number }> => sql`
  ${fleetNote('operators see all tenants')}
  select i.tenant_id, i.id
  from (
    select l.tenant_id, l.repo_id, l.issue_number, l.state_entered_at
    from (${sql.join(
      IN_FLIGHT_STATES.map((state) => newestInState(state, issues)),
      sql` union all `,
    )}) l
    order by l.state_entered_at desc, l.tenant_id desc, l.repo_id desc, l.issue_number desc limit ${issues}
  ) c
  join issues i on i.tenant_id = c.tenant_id and i.repo_id = c.repo_id and i.issue_number = c.issue_number
  order by c.state_entered_at desc, c.tenant_id desc, c.repo_id desc, c.issue_number desc`;

const newestInState = (state: State, limit: number) => sql`(
  select l.tenant_id, l.repo_id, l.issue_number, l.state_entered_at
  from issue_list l join repos r on r.tenant_id = l.tenant_id and r.id = l.repo_id
  where l.state = ${state} and r.enabled
  order by l.state_entered_at desc, l.tenant_id desc, l.repo_id desc, l.issue_number desc limit ${limit})`;

const timelinesStatement = (
  tenantId: number,
  ids: readonly number[],
  entries: number,
): RawBuilder<TimelineInFlight & { id: number }> => sql`
  select i.id, i.tenant_id as "tenantId", i.repo_id as "repoId", r.owner || '/' || r.name as repo, svc_now() as now, found.issue
  from issues i
  join repos r on r.tenant_id = ${tenantId} and r.id = i.repo_id
  cross join lateral (
    select row_to_json(f) as issue from (select
      ${timelineHead(sql`${tenantId}`, entries, true)},
      (select coalesce(json_agg(q), '[]') from (
        ${entryJson(true)} from (
          select * from (${newestEntriesOfIssue(sql`${tenantId}`, entries)}) n order by n.at desc, n.id desc limit ${entries}
        ) t order by t.at, t.id) q) as entries
    ) f
  ) found
  where i.tenant_id = ${tenantId} and i.id = any(${ids}::bigint[])`;
