import { type AuditCursor, type AuditTarget, auditBound } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { exactTime, fleetNote } from '../driver/fragments.ts';
import { newestRows, type RowCount } from '../driver/newest-rows.ts';

/** Filters of the audit; null = any. */
export interface AuditPageFilter {
  actor: string | null;
  action: string | null;
  /** Whole subject of an entry of the log. */
  subject: string | null;
  /** Target of an action on a repo. */
  target: AuditTarget | null;
  since: string | null;
  until: string | null;
}

export interface AuditPage {
  filter: AuditPageFilter;
  /** Entries after this place; null = the newest ones. */
  after: AuditCursor | null;
  limit: number;
}

/** An action as it is stored. `at` has microseconds. */
export interface AuditRow {
  id: number;
  at: string;
  actorType: string;
  actor: string;
  action: string;
  target: string;
  repo: string | null;
  issueNumber: number | null;
  reason: string | null;
  details: Record<string, unknown>;
}

/** Type of the pipeline events that are actions on repos. */
export const AUDIT_EVENT = 'operator_action';

/**
 * Actions on repos, newest first, by `pipeline_events_of_type` in windows of time as `newestRows` describes. A filter by
 * actor, action or target reads the actions of the time range until the page is full.
 * @param counted events of type AUDIT_EVENT: windows that they would not fill are not read.
 */
export async function auditEventPage(fleet: Db, page: AuditPage, counted: Promise<RowCount>): Promise<AuditRow[]> {
  const { filter, after, limit } = page;
  if (filter.subject !== null && filter.target === null) return [];
  const bound = after === null ? null : auditBound(after, 'event');
  const until = bound?.at ?? filter.until;
  const wanted = { page: limit, among: await counted };
  return newestRows(until === null ? null : sql`${until}::timestamptz`, wanted, async (from) => {
    const { rows } = await eventStatement(page, bound, from).execute(fleet);
    return rows;
  });
}

const eventStatement = (
  { filter, limit }: AuditPage,
  bound: Bound | null,
  from: RawBuilder<unknown> | null,
): RawBuilder<AuditRow> => sql`
  ${fleetNote('operators see all tenants')}
  select e.id, ${exactTime('e.created_at')} as at,
    case when e.payload ->> 'actorId' is null then e.agent else 'operator' end as "actorType", e.agent as actor,
    coalesce(e.payload ->> 'action', '') as action,
    r.owner || '/' || r.name || coalesce('#' || e.issue_number, '') as target,
    r.owner || '/' || r.name as repo, e.issue_number as "issueNumber", e.payload ->> 'reason' as reason,
    e.payload - 'action' - 'actorId' - 'reason' as details
  from tenants t
  join pipeline_events e on e.tenant_id = t.id
  join repos r on r.tenant_id = e.tenant_id and r.id = e.repo_id
  where e.event_type = ${sql.lit(AUDIT_EVENT)} ${within('e.created_at', filter)} ${before('e.created_at', 'e.id', bound)}
    ${from === null ? sql`` : sql`and e.created_at >= ${from}`}
    ${filter.actor === null ? sql`` : sql`and e.agent = ${filter.actor}`}
    ${filter.action === null ? sql`` : sql`and e.payload ->> 'action' = ${filter.action}`}
    ${filter.target === null ? sql`` : ofTarget(filter.target)}
  order by e.created_at desc, e.id desc limit ${limit}`;

/** Repo names are compared without regard to case. A name may belong to several tenants. */
const ofTarget = ({ owner, name, issue }: AuditTarget): RawBuilder<unknown> => sql`
  and lower(r.owner) = ${owner.toLowerCase()} and lower(r.name) = ${name.toLowerCase()}
  ${issue === null ? sql`` : sql`and e.issue_number = ${issue}`}`;

/** Actions outside any repo, newest first, by `audit_log_by_time`. */
export async function auditLogPage(db: Db, { filter, after, limit }: AuditPage): Promise<AuditRow[]> {
  const { actor, action, subject } = filter;
  const bound = after === null ? null : auditBound(after, 'log');
  const { rows } = await sql<AuditRow>`
    ${fleetNote('the audit log belongs to the deployment')}
    select a.id, ${exactTime('a.at')} as at, a.actor_type as "actorType", a.actor_id as actor, a.action,
      a.subject as target, null as repo, null as "issueNumber", a.reason, a.details
    from audit_log a
    where true ${within('a.at', filter)} ${before('a.at', 'a.id', bound)}
      ${actor === null ? sql`` : sql`and a.actor_id = ${actor}`}
      ${action === null ? sql`` : sql`and a.action = ${action}`}
      ${subject === null ? sql`` : sql`and a.subject = ${subject}`}
    order by a.at desc, a.id desc limit ${limit}`.execute(db);
  return rows;
}

const within = (column: string, { since, until }: AuditPageFilter): RawBuilder<unknown> => sql`
  ${since === null ? sql`` : sql`and ${sql.ref(column)} >= ${since}::timestamptz`}
  ${until === null ? sql`` : sql`and ${sql.ref(column)} < ${until}::timestamptz`}`;

interface Bound {
  at: string;
  id: number;
}

const before = (at: string, id: string, bound: Bound | null): RawBuilder<unknown> =>
  bound === null ? sql`` : sql`and (${sql.ref(at)}, ${sql.ref(id)}) < (${bound.at}::timestamptz, ${bound.id}::bigint)`;
