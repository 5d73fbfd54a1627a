import { stateBit, WORK_TASK_TYPES } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type AnalyticsScope, within } from './scope.ts';

const BLOCKED = stateBit('failure-blocked') | stateBit('dependency-blocked');

interface RepoReliability {
  tenantId: number;
  repoId: number;
  owner: string;
  name: string;
  completed: number;
  recovered: number;
  p50Seconds: number | null;
  p90Seconds: number | null;
  deadLetters: number;
  tasksRetried: number;
  totalRetries: number;
}

/**
 * Reliability figures of each enabled repo since then. Costs the issues that were done (index transitions_by_state),
 * a probe and its transitions each, and the dead letters and repeated runs of the window. A retry counts as soon as it waits
 * (index tasks_retried).
 */
export async function reliabilityByRepo(fleet: Db, scope: AnalyticsScope, since: Date): Promise<RepoReliability[]> {
  const from = sql`${since.toISOString()}::timestamptz`;
  const workTypes = sql`${[...WORK_TASK_TYPES]}::text[]`;
  const { rows } = await sql<RepoReliability>`
    ${fleetNote('operators see all tenants')}
    with done as (
      select t.tenant_id, t.repo_id, t.issue_id, max(t.at) as at from transitions t
      where t.to_state = 'done' and t.at >= ${from} and ${within('t', scope)} group by 1, 2, 3
    ), spans as (
      select d.tenant_id, d.repo_id, d.issue_id, d.at - (array_agg(t.at order by t.id))[1] as span
      from done d join transitions t on t.tenant_id = d.tenant_id and t.issue_id = d.issue_id
      group by d.tenant_id, d.repo_id, d.issue_id, d.at
    ), lives as (
      select s.tenant_id, s.repo_id, extract(epoch from s.span)::float8 as seconds,
        i.reached_states & ${sql.lit(BLOCKED)} <> 0 as recovered
      from spans s join issues i on i.tenant_id = s.tenant_id and i.id = s.issue_id
    ), completed as (
      select l.tenant_id, l.repo_id, count(*) as n, count(*) filter (where l.recovered) as recovered,
        percentile_cont(0.5) within group (order by l.seconds) as p50,
        percentile_cont(0.9) within group (order by l.seconds) as p90
      from lives l group by 1, 2
    ), dead as (
      select d.tenant_id, d.repo_id, count(*) as n from dead_letters d
      where d.created_at >= ${from} and ${within('d', scope)} group by 1, 2
    ), attempts as (
      select r.tenant_id, r.repo_id, r.work_id, r.attempt from runs r
      where r.attempt > 0 and r.claimed_at >= ${from} and r.task_type = any(${workTypes}) and ${within('r', scope)}
      union
      select q.tenant_id, q.repo_id, q.work_id, q.attempt from tasks q
      where q.attempt > 0 and q.status = 'pending' and q.task_type = any(${workTypes}) and ${within('q', scope)}
    ), retried as (
      select a.tenant_id, a.repo_id, count(*) as tasks, sum(a.attempt) as retries from attempts a group by 1, 2
    )
    select o.tenant_id as "tenantId", o.id as "repoId", o.owner, o.name, coalesce(c.n, 0)::int as completed,
      coalesce(c.recovered, 0)::int as recovered, c.p50 as "p50Seconds", c.p90 as "p90Seconds",
      coalesce(l.n, 0)::int as "deadLetters", coalesce(t.tasks, 0)::int as "tasksRetried",
      coalesce(t.retries, 0)::int as "totalRetries"
    from repos o
    left join completed c on c.tenant_id = o.tenant_id and c.repo_id = o.id
    left join dead l on l.tenant_id = o.tenant_id and l.repo_id = o.id
    left join retried t on t.tenant_id = o.tenant_id and t.repo_id = o.id
    where o.enabled and (${scope.tenantId}::bigint is null or o.tenant_id = ${scope.tenantId})
      and (${scope.repoId}::bigint is null or o.id = ${scope.repoId})
    order by o.slug_key, o.tenant_id`.execute(fleet);
  return rows;
}

interface RetrospectiveCounts {
  outcome: string | null;
  all: number;
  withFiles: number;
  /** Retrospectives with an unplanned file, and those that only omitted planned ones. */
  more: number;
  fewer: number;
}

/** Retrospectives written since then, by outcome (index retrospectives_by_time). */
export async function retrospectiveCounts(
  fleet: Db,
  scope: AnalyticsScope,
  since: Date,
): Promise<RetrospectiveCounts[]> {
  const { rows } = await sql<RetrospectiveCounts>`
    ${fleetNote('operators see all tenants')}
    select x.outcome, count(*)::int as all,
      (count(*) filter (where x.planned is not null and x.actual is not null))::int as "withFiles",
      (count(*) filter (where not x.planned @> x.actual))::int as more,
      (count(*) filter (where x.planned @> x.actual and not x.actual @> x.planned))::int as fewer
    from (
      select r.outcome_classification as outcome, r.planned_files -> 'files' as planned, r.actual_files -> 'files' as actual
      from retrospectives r
      where r.created_at >= ${since.toISOString()}::timestamptz and ${within('r', scope)}
    ) x
    group by 1 order by 1`.execute(fleet);
  return rows;
}
