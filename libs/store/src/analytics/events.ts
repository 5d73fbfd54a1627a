import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { newestRows, type RowCount } from '../driver/newest-rows.ts';
import { cellsOf } from './rollups/sums.ts';
import { type AnalyticsScope, openFactsOf, within } from './scope.ts';

export interface PipelineEventRow {
  id: number;
  repoOwner: string;
  repoName: string;
  issueNumber: number | null;
  eventType: string;
  agent: string;
  payload: Record<string, unknown>;
  createdAt: string;
}

interface EventFilter extends AnalyticsScope {
  issue: number | null;
  type: string | null;
}

/**
 * One page of pipeline events, newest first. Of one tenant or repo by an index in order; of an issue all its events; of
 * all tenants as `newestRows` describes. Costs offset + limit rows, or a small multiple of them.
 * @param counted what `countEvents` returns for the filter: with it, events of a rare type are one statement.
 */
export async function eventPage(
  fleet: Db,
  filter: EventFilter,
  { limit, offset, counted }: { limit: number; offset: number; counted?: Promise<RowCount> },
): Promise<PipelineEventRow[]> {
  const pageOf = async (events: RawBuilder<unknown>): Promise<PipelineEventRow[]> => {
    const { rows } = await pageStatement(events, { limit, offset }).execute(fleet);
    return rows;
  };
  const { tenantId, repoId, type } = filter;
  if (filter.issue !== null) return pageOf(eventsOfIssues(await issuesOf(fleet, filter), filter));
  if (tenantId !== null) {
    return pageOf(sql`
      select ${EVENT_COLUMNS} from pipeline_events e
      where e.tenant_id = ${tenantId} ${repoId === null ? sql`` : sql`and e.repo_id = ${repoId}`} ${ofType('e', type)}`);
  }
  return newestRows(null, { page: limit, offset, ...(counted && { among: await counted }) }, (from) =>
    pageOf(sql`
      select ${EVENT_COLUMNS} from tenants t join pipeline_events e on e.tenant_id = t.id
      where ${from === null ? sql`true` : sql`e.created_at >= ${from}`} ${ofType('e', type)}`),
  );
}

const EVENT_COLUMNS = sql`
  e.tenant_id, e.created_at, e.id, e.repo_id, e.issue_number, e.event_type, e.agent, e.payload`;

const pageStatement = (
  events: RawBuilder<unknown>,
  { limit, offset }: { limit: number; offset: number },
): RawBuilder<PipelineEventRow> => sql`
  ${fleetNote('operators see all tenants')}
  select e.id, r.owner as "repoOwner", r.name as "repoName", e.issue_number as "issueNumber",
    e.event_type as "eventType", e.agent, e.payload, e.created_at as "createdAt"
  from (
    select newest.* from (${events}) newest
    order by newest.created_at desc, newest.id desc limit ${limit} offset ${offset}
  ) e
  join repos r on r.tenant_id = e.tenant_id and r.id = e.repo_id
  order by e.created_at desc, e.id desc`;

interface IssueOfRepo {
  tenant_id: number;
  repo_id: number;
  /** Null = the repo has no record of an issue of that number. */
  issue_id: number | null;
}

/** Finds the issue of the filter's number in each repo of its scope: numbers are unique only within a repo. */
async function issuesOf(fleet: Db, { tenantId, repoId, issue }: EventFilter): Promise<IssueOfRepo[]> {
  const { rows } = await sql<IssueOfRepo>`
    ${fleetNote('operators see all tenants')}
    select r.tenant_id, r.id as repo_id, i.id as issue_id
    from repos r left join issues i on i.tenant_id = r.tenant_id and i.repo_id = r.id and i.issue_number = ${issue}
    where (${tenantId}::bigint is null or r.tenant_id = ${tenantId}) and (${repoId}::bigint is null or r.id = ${repoId})`.execute(
    fleet,
  );
  return rows;
}

/**
 * Events are found by the id of their issue, which nearly all of them have; events about a number without a record are
 * among the few without an id.
 */
function eventsOfIssues(issues: readonly IssueOfRepo[], { issue, type }: EventFilter): RawBuilder<unknown> {
  const known = issues.filter(({ issue_id }) => issue_id !== null);
  const column = (of: readonly IssueOfRepo[], name: keyof IssueOfRepo) => sql`${of.map((one) => one[name])}::bigint[]`;
  return sql`
    select ${EVENT_COLUMNS}
    from unnest(${column(known, 'tenant_id')}, ${column(known, 'issue_id')}) source (tenant_id, issue_id)
    join pipeline_events e on e.tenant_id = source.tenant_id and e.issue_id = source.issue_id
    where true ${ofType('e', type)}
    union all
    select ${EVENT_COLUMNS}
    from unnest(${column(issues, 'tenant_id')}, ${column(issues, 'repo_id')}) source (tenant_id, repo_id)
    join pipeline_events e on e.tenant_id = source.tenant_id and e.repo_id = source.repo_id
    where e.issue_id is null and e.issue_number = ${issue} ${ofType('e', type)}`;
}

/**
 * Total number of events: from the monthly counts and the open events, with the time since the first of these
 * months; for an issue, counted by its index.
 */
export async function countEvents(fleet: Db, filter: EventFilter): Promise<RowCount> {
  const counted = filter.issue === null ? countOfSums(filter) : countOfIssues(await issuesOf(fleet, filter), filter);
  const { rows } = await sql<RowCount>`${fleetNote('operators see all tenants')} ${counted}`.execute(fleet);
  return rows[0] ?? { total: 0, withinMs: 0 };
}

const countOfSums = (filter: EventFilter): RawBuilder<unknown> => sql`
  with ${openFactsOf(filter)}
  select coalesce(sum(n), 0)::bigint as total,
    coalesce(extract(epoch from svc_now() - min(at)) * 1000, 0)::float8 as "withinMs"
  from (
    select s.n, s.at from event_counts s
    where ${within('s', filter)} and s.grain = 'month' ${ofType('s', filter.type)}
    union all
    select c.n, c.at from (${cellsOf('event_counts')}) c where true ${ofType('c', filter.type)}
  ) parts`;

const ofType = (alias: string, type: string | null) =>
  type === null ? sql`` : sql`and ${sql.ref(`${alias}.event_type`)} = ${type}`;

const countOfIssues = (issues: readonly IssueOfRepo[], filter: EventFilter): RawBuilder<unknown> => sql`
  select count(*) as total, 0::float8 as "withinMs" from (${eventsOfIssues(issues, filter)}) e`;
