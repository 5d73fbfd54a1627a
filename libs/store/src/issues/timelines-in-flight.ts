import { IN_FLIGHT_STATES } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import type { TimelineRow } from './timeline.ts';
import { entryJson, newestEntriesOfIssue, timelineHead } from './timeline-sources.ts';

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
 * statement. Cost is limited by `bounds` and does not grow with the history: the issues are the ends of the ranges of
 * the index issue_list_in_state, and each source reads at most `entries` rows by its index.
 */
export async function timelinesInFlight(fleet: Db, bounds: TimelineBounds): Promise<TimelineInFlight[]> {
  const { rows } = await timelinesStatement(bounds).execute(fleet);
  return rows;
}

const timelinesStatement = ({ issues, entries }: TimelineBounds): RawBuilder<TimelineInFlight> => sql`
  ${fleetNote('operators see all tenants')}
  select c.tenant_id as "tenantId", c.repo_id as "repoId", c.repo, svc_now() as now, found.issue
  from (
    select l.tenant_id, l.repo_id, l.issue_number, l.state_entered_at, l.repo
    from unnest(${IN_FLIGHT_STATES}::text[]) as wanted (state)
    cross join lateral (
      select l.tenant_id, l.repo_id, l.issue_number, l.state_entered_at, r.owner || '/' || r.name as repo
      from issue_list l join repos r on r.tenant_id = l.tenant_id and r.id = l.repo_id
      where l.state = wanted.state and r.enabled
      order by l.state_entered_at desc, l.tenant_id desc, l.repo_id desc, l.issue_number desc limit ${issues}
    ) l
    order by l.state_entered_at desc, l.tenant_id desc, l.repo_id desc, l.issue_number desc limit ${issues}
  ) c
  join issues i on i.tenant_id = c.tenant_id and i.repo_id = c.repo_id and i.issue_number = c.issue_number
  cross join lateral (
    select row_to_json(f) as issue from (select
      ${timelineHead(entries, true)},
      (select coalesce(json_agg(q), '[]') from (
        ${entryJson(true)} from (
          select * from (${newestEntriesOfIssue(entries)}) n order by n.at desc, n.id desc limit ${entries}
        ) t order by t.at, t.id) q) as entries
    ) f
  ) found
  order by c.state_entered_at desc, c.tenant_id desc, c.repo_id desc, c.issue_number desc`;
