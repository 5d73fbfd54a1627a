import type { WarnAfterMinutes } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** An issue that exceeds the limit for its state of its workflow or, without one, of the settings. */
export interface SlaBreach {
  tenant_id: number;
  fingerprint: string;
  owner: string;
  name: string;
  issue_number: number;
  state: string;
  /** Minutes in state, and the limit. */
  minutes: number;
  limit_minutes: number;
  /** Version of the plan that waits for an approval. */
  pending_plan: number | null;
}

const DETECTOR = 'sla_breach';

/** Fingerprint with the repo id instead of the name, so that a renamed repo keeps its alerts. */
const fingerprint = sql<string>`${sql.lit(`${DETECTOR}:`)} || i.repo_id || '#' || i.issue_number`;

/** The limit in minutes for the state of issue `i` with workflow `w`; null = no limit. */
export const slaLimitOf = (limits: WarnAfterMinutes): RawBuilder<number | null> => sql`coalesce(
  (select (s->>'warnAfterMinutes')::float8 from jsonb_array_elements(w.body->'states') s where s->>'name' = i.state),
  (${JSON.stringify(limits)}::jsonb->>i.state)::float8)`;

const WATCHED: RawBuilder<unknown> = sql`
  from issues i
  join repos r on r.tenant_id = i.tenant_id and r.id = i.repo_id and r.enabled
  join workflow_snapshots w on w.tenant_id = i.tenant_id and w.repo_id = i.repo_id and w.active`;

/** Exact time in state of an issue; the index contains only the hour. */
const isTooLong = (limits: WarnAfterMinutes) =>
  sql<boolean>`i.state_entered_at <= svc_now() - make_interval(secs => ${slaLimitOf(limits)} * 60)`;

/**
 * The shortest limit of any active workflow or of `limits`, in minutes; null = none sets a limit. Cost: one read of the
 * active workflows.
 */
export async function shortestSla(fleet: Db, limits: WarnAfterMinutes): Promise<number | null> {
  const { rows } = await sql<{ minutes: number | null }>`
    ${fleetNote('one limit bounds the search for all')}
    select min((s->>'warnAfterMinutes')::float8) as minutes
    from workflow_snapshots w cross join lateral jsonb_array_elements(w.body->'states') s
    where w.active`.execute(fleet);
  const all = [...Object.values(limits), rows[0]?.minutes].map((minutes) => minutes ?? Number.POSITIVE_INFINITY);
  const shortest = Math.min(...all);
  return Number.isFinite(shortest) ? shortest : null;
}

/**
 * Issues in breach without an open alert, longest in state first. Cost: the issues over `shortestMinutes` (index
 * issues_standing), a probe of the alerts for each.
 */
export const slaBreaches = (
  limits: WarnAfterMinutes,
  shortestMinutes: number,
  batch: number,
): RawBuilder<SlaBreach> => sql`
  ${fleetNote('the loop watches the issues of all tenants')}
  select i.tenant_id, ${fingerprint} as fingerprint, r.owner, r.name, i.issue_number, i.state,
    floor(extract(epoch from svc_now() - i.state_entered_at) / 60)::int as minutes, ${slaLimitOf(limits)} as limit_minutes,
    case when i.plan_status = 'pending' and i.state = 'human-review-ready' then i.plan_version end as pending_plan
  ${WATCHED}
  where i.standing_since_hour <= svc_now() - make_interval(secs => ${shortestMinutes}::float8 * 60) and ${isTooLong(limits)}
    and not exists (
      select from alerts a
      where a.tenant_id = i.tenant_id and a.fingerprint = ${fingerprint} and a.resolved_at is null)
  order by i.standing_since_hour, i.tenant_id, fingerprint
  limit ${batch}`;

/** Open alerts whose issue is no longer in breach: it moved, is done or paused, or its limit grew. */
export async function endedSlaBreaches(
  fleet: Db,
  limits: WarnAfterMinutes,
  batch: number,
): Promise<{ tenant_id: number; fingerprint: string }[]> {
  const { rows } = await sql<{ tenant_id: number; fingerprint: string }>`
    ${fleetNote('the loop watches the issues of all tenants')}
    select a.tenant_id, a.fingerprint
    from alerts a
    where a.detector = ${DETECTOR} and a.resolved_at is null and not exists (
      select ${WATCHED}
      where i.tenant_id = a.tenant_id and i.issue_number = a.issue_number
        and i.repo_id = split_part(split_part(a.fingerprint, ':', 2), '#', 1)::bigint
        and i.standing_since_hour is not null and ${isTooLong(limits)})
    order by a.tenant_id, a.fingerprint
    limit ${batch}`.execute(fleet);
  return rows;
}
