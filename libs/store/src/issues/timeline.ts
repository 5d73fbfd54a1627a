import type { State } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { ReadScope } from '../accounts/org-scope.ts';
import type { Db } from '../driver/database.ts';
import { jsonList, wireTime } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { type Reach, reachableRepo, reachOf } from '../repos/reachable-repo.ts';
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
    totalDurationMs: number;
    stateTransitions: StateTransition[];
    /** One page of entries, oldest first. */
    entries: TimelineEntry[];
    total: number;
  } | null;
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

type Source = Partial<Record<keyof typeof COLUMNS, RawBuilder<unknown>>>;

const source = (columns: Source, from: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select ${sql.join(
    Object.entries(COLUMNS).map(
      ([name, type]) =>
        sql`(${columns[name as keyof typeof COLUMNS] ?? sql`null`})::${sql.raw(type)} as ${sql.ref(name)}`,
    ),
  )} from ${from}`;

const kind = (name: TimelineEntry['kind']) => sql.lit(name);
const ofIssue = (alias: string) => sql`
  ${sql.ref(`${alias}.tenant_id`)} = i.tenant_id and ${sql.ref(`${alias}.issue_id`)} = i.id`;
const ms = (from: string, to: string) => sql`extract(epoch from ${sql.ref(to)} - ${sql.ref(from)}) * 1000`;

/** Every source by an index that begins with the tenant and the issue. */
const SOURCES: RawBuilder<unknown>[] = [
  source(
    {
      ...{
        id: sql`'transition-' || m.id`,
        at: sql`m.at`,
        kind: kind('transition'),
        title: sql`'moved to ' || m.to_state`,
      },
      ...{
        agent: sql`m.agent`,
        actor_type: sql`m.actor_type`,
        actor_id: sql`m.actor_id`,
        from_state: sql`m.from_state`,
      },
      ...{ to_state: sql`m.to_state`, duration_ms: sql`m.duration_in_from_ms` },
      details: sql`jsonb_build_object('trigger', m.trigger, 'reason', m.reason, 'forced', m.forced)`,
    },
    sql`transitions m where ${ofIssue('m')}`,
  ),
  source(
    {
      ...{
        id: sql`'run-' || r.id`,
        at: sql`r.claimed_at`,
        kind: kind('agent-run'),
        title: sql`r.task_type || ' by ' || r.agent`,
      },
      ...{
        agent: sql`r.agent`,
        actor_type: sql`'agent'`,
        actor_id: sql`r.worker_id`,
        status: sql`coalesce(r.outcome, r.status)`,
      },
      ...{ task_id: sql`r.task_id`, run_id: sql`r.id`, duration_ms: ms('r.claimed_at', 'r.finished_at') },
      ...{ cost_usd: sql`r.cost_usd`, error: sql`left(r.error_message, 2000)` },
    },
    sql`runs r where ${ofIssue('r')}`,
  ),
  source(
    {
      ...{ id: sql`'event-' || e.id`, at: sql`e.created_at`, title: sql`left(e.status, 300)`, status: sql`e.status` },
      kind: sql`case e.actor_type when 'operator' then ${kind('operator-action')} else ${kind('event')} end`,
      ...{ actor_type: sql`e.actor_type`, actor_id: sql`e.actor_id`, to_state: sql`e.state`, details: sql`e.details` },
    },
    // Transitions have their own source.
    sql`issue_events e where ${ofIssue('e')} and not coalesce(e.details ? 'trigger', false)`,
  ),
  source(
    {
      ...{ id: sql`'projection-' || p.id`, at: sql`p.created_at`, kind: kind('projection') },
      ...{
        title: sql`(p.action ->> 'type') || ' on the host'`,
        status: sql`p.status`,
        error: sql`left(p.error, 2000)`,
      },
    },
    sql`projections p where p.tenant_id = i.tenant_id and p.repo_id = i.repo_id and p.issue_number = i.issue_number`,
  ),
  source(
    {
      ...{ id: sql`'finding-' || f.id`, at: sql`f.created_at`, kind: kind('finding'), title: sql`left(f.title, 300)` },
      ...{ agent: sql`f.agent_name`, status: sql`f.status`, run_id: sql`f.run_id`, pr_number: sql`f.pr_number` },
      details: sql`jsonb_build_object('severity', f.severity, 'blocksProgress', f.blocks_progress)`,
    },
    sql`findings f where ${ofIssue('f')}`,
  ),
  source(
    {
      ...{ id: sql`'dead-letter-' || d.id`, at: sql`d.created_at`, kind: kind('dead-letter') },
      ...{
        title: sql`'could not move to ' || d.target_state`,
        agent: sql`d.agent_name`,
        from_state: sql`d.from_state`,
      },
      ...{ status: sql`coalesce(d.resolution, 'open')`, error: sql`left(d.error, 2000)` },
    },
    sql`dead_letters d where ${ofIssue('d')}`,
  ),
];

const entryJson = sql`
  select t.id, ${wireTime('t.at')} as timestamp, t.kind, t.title, t.agent, t.actor_type as "actorType",
    t.actor_id as "actorId", t.from_state as "fromState", t.to_state as "toState", t.status, t.task_id as "taskId",
    t.run_id as "runId", t.pr_number as "prNumber", t.duration_ms as "durationMs",
    trim_scale(round(t.cost_usd, 4)) as "costUsd", t.error, t.details`;

const MAX_MOVES = 1_000;

/** The newest, oldest first. */
const transitions = jsonList(
  sql`
  select m.from_state as "from", m.to_state as "to", ${wireTime('m.at')} as at, m.agent, m.actor_type as "actorType",
    m.actor_id as "actorId", m.reason, m.forced, m.duration_in_from_ms as "durationInFromMs"
  from (
    select t.id, t.from_state, t.to_state, t.at, t.agent, t.actor_type, t.actor_id, t.reason, t.forced,
      t.duration_in_from_ms
    from transitions t where ${ofIssue('t')} order by t.id desc limit ${sql.lit(MAX_MOVES)}
  ) m order by m.id`,
  MAX_MOVES,
);

type Query = Reach & { number: number; limit: number; offset: number };

const timeline = prepared('timeline-of-issue', (_db, p: Params<Query>) => {
  const all = sql.join(SOURCES, sql` union all `);
  return sql<TimelineRow>`
    with repo as (${reachableRepo(p)})
    select repo.owner || '/' || repo.name as repo, svc_now() as now, found.issue
    from repo
    left join lateral (
      select of_issue.issue from issues i cross join lateral (
        select row_to_json(f) as issue from (select
          i.issue_number as "issueNumber", i.title, i.state as "currentState", i.is_paused as "isPaused",
          i.is_blocked as "isBlocked", trim_scale(round(i.cost_usd, 4)) as "totalCostUsd",
          (extract(epoch from case i.state when 'done' then i.state_entered_at else svc_now() end - i.created_at) * 1000)::bigint
            as "totalDurationMs",
          ${transitions} as "stateTransitions",
          (select count(*) from (${all}) t) as total,
          (select coalesce(json_agg(q), '[]') from (
            ${entryJson} from (${all}) t order by t.at, t.id limit ${p('limit')} offset ${p('offset')}) q) as entries
        ) f
      ) of_issue
      where i.tenant_id = ${p('tenantId')} and i.repo_id = repo.id and i.issue_number = ${p('number')}
    ) found on true`;
});

/**
 * The timeline of an issue, oldest first. Costs all entries of the issue. @returns undefined for a repo out of scope.
 */
export const issueTimeline = (
  read: Db,
  scope: ReadScope,
  { slug, ...page }: { slug: string; number: number; limit: number; offset: number },
): Promise<TimelineRow | undefined> => timeline.first(read, { ...reachOf(scope, slug), ...page });
