import type { State } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { jsonList, wireTime } from '../driver/fragments.ts';

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

/** Columns in the order of the union; columns that a source does not have are null. */
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
export const entriesOfIssue = (tenant: Tenant): RawBuilder<unknown> =>
  sql.join(
    sourcesOf(tenant).map(({ columns, from }) => sql`select ${listed(columns)} from ${from}`),
    sql` union all `,
  );

/** Selects the newest entries of the issue `i`: reads and returns at most `limit` rows of each source. */
export const newestEntriesOfIssue = (tenant: Tenant, limit: number): RawBuilder<unknown> =>
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
export function entryJson(isShort: boolean): RawBuilder<unknown> {
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
export const timelineHead = (tenant: Tenant, maxTransitions: number, isShort: boolean): RawBuilder<unknown> => sql`
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
