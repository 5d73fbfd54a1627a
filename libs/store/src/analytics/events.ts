import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { cellsOf } from './rollups/sums.ts';
import { type AnalyticsScope, waitingFacts, within } from './scope.ts';

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
 * One page of pipeline events, newest first. Each tenant (or repo, if an issue is given) contributes its newest ones by
 * an index, and the page is merged from them. Costs offset + limit rows of each.
 */
export async function eventPage(
  fleet: Db,
  filter: EventFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<PipelineEventRow[]> {
  const { rows } = await sql<PipelineEventRow>`
    ${fleetNote('operators see all tenants')}
    select e.id, r.owner as "repoOwner", r.name as "repoName", e.issue_number as "issueNumber",
      e.event_type as "eventType", e.agent, e.payload, e.created_at as "createdAt"
    from (
      select newest.* from ${sourcesOf(filter)} source
      cross join lateral (
        ${eventsOfSource(filter)}
        order by created_at desc, id desc limit ${offset + limit}
      ) newest
      order by newest.created_at desc, newest.id desc limit ${limit} offset ${offset}
    ) e
    join repos r on r.tenant_id = e.tenant_id and r.id = e.repo_id
    order by e.created_at desc, e.id desc`.execute(fleet);
  return rows;
}

/** Issue numbers are unique only within a repo. */
function sourcesOf({ tenantId, repoId, issue }: EventFilter): RawBuilder<unknown> {
  if (issue === null && repoId === null) {
    return sql`(select t.id as tenant_id from tenants t where ${tenantId}::bigint is null or t.id = ${tenantId})`;
  }
  const known = sql`
    left join issues i on i.tenant_id = r.tenant_id and i.repo_id = r.id and i.issue_number = ${issue}`;
  return sql`(
    select r.tenant_id, r.id as repo_id ${issue === null ? sql`` : sql`, i.id as issue_id`}
    from repos r ${issue === null ? sql`` : known}
    where (${tenantId}::bigint is null or r.tenant_id = ${tenantId}) and (${repoId}::bigint is null or r.id = ${repoId}))`;
}

/**
 * The events `e` of a source. Events of an issue are found by its id, which nearly all of them have; events about a
 * number without a record are among the few without an id.
 */
function eventsOfSource({ repoId, issue, type }: EventFilter): RawBuilder<unknown> {
  const ofType = type === null ? sql`` : sql`and e.event_type = ${type}`;
  const events = (where: RawBuilder<unknown>) => sql`
    select e.tenant_id, e.created_at, e.id, e.repo_id, e.issue_number, e.event_type, e.agent, e.payload
    from pipeline_events e where e.tenant_id = source.tenant_id ${where} ${ofType}`;
  if (issue === null) return events(repoId === null ? sql`` : sql`and e.repo_id = source.repo_id`);
  return sql`
    ${events(sql`and e.issue_id = source.issue_id`)}
    union all
    ${events(sql`and e.issue_id is null and e.repo_id = source.repo_id and e.issue_number = ${issue}`)}`;
}

/** Total number of events: from the monthly counts; for an issue, counted by its index. */
export async function countEvents(fleet: Db, filter: EventFilter): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('operators see all tenants')} ${filter.issue === null ? countOfSums(filter) : countOfIssue(filter)}`.execute(
    fleet,
  );
  return rows[0]?.n ?? 0;
}

const countOfSums = (filter: EventFilter): RawBuilder<unknown> => sql`
  with ${waitingFacts(filter)}
  select coalesce(sum(n), 0)::bigint as n from (
    select s.n from event_counts s
    where ${within('s', filter)} and s.grain = 'month' ${ofType('s', filter.type)}
    union all
    select c.n from (${cellsOf('event_counts')}) c where true ${ofType('c', filter.type)}
  ) parts`;

const ofType = (alias: string, type: string | null) =>
  type === null ? sql`` : sql`and ${sql.ref(`${alias}.event_type`)} = ${type}`;

const countOfIssue = (filter: EventFilter): RawBuilder<unknown> => sql`
  select coalesce(sum(found.n), 0)::bigint as n from ${sourcesOf(filter)} source
  cross join lateral (
    select count(*) as n from (${eventsOfSource(filter)}) e
  ) found`;
