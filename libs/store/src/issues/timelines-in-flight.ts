import { IN_FLIGHT_STATES, type State } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import type { TimelineRow } from './timeline.ts';
import { entryJson, newestEntriesOfIssue, timelineHead } from './timeline-entries.ts';

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
