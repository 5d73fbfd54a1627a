import { type AuditCursor, type AuditTarget, auditBound } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { exactTime, fleetNote } from '../driver/fragments.ts';

/** Filters of the audit; null = any. */
export interface AuditPageFilter {
  actor: string | null;
  action: string | null;
  /** Of an entry of the log: its whole subject. */
  subject: string | null;
  /** Of an action on a repo. */
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

/**
 * Actions on repos, newest first. Each tenant contributes its newest ones by `pipeline_events_of_type`, and the page is
 * merged from them. A filter by actor, action or target reads the actions of the time range until the page is full.
 */
export async function auditEventPage(fleet: Db, { filter, after, limit }: AuditPage): Promise<AuditRow[]> {
  if (filter.subject !== null && filter.target === null) return [];
  const { actor, action, target } = filter;
  const bound = after === null ? null : auditBound(after, 'event');
  const { rows } = await sql<AuditRow>`
    ${fleetNote('operators see all tenants')}
    select e.id, ${exactTime('e.created_at')} as at,
      case when e.payload ->> 'actorId' is null then e.agent else 'operator' end as "actorType", e.agent as actor,
      coalesce(e.payload ->> 'action', '') as action,
      r.owner || '/' || r.name || coalesce('#' || e.issue_number, '') as target,
      r.owner || '/' || r.name as repo, e.issue_number as "issueNumber", e.payload ->> 'reason' as reason,
      e.payload - 'action' - 'actorId' - 'reason' as details
    from (
      select newest.* from tenants t
      cross join lateral (
        select p.tenant_id, p.created_at, p.id, p.repo_id, p.issue_number, p.agent, p.payload
        from pipeline_events p
        where p.tenant_id = t.id and p.event_type = 'operator_action'
          ${within('p.created_at', filter)} ${before('p.created_at', 'p.id', bound)}
          ${actor === null ? sql`` : sql`and p.agent = ${actor}`}
          ${action === null ? sql`` : sql`and p.payload ->> 'action' = ${action}`}
          ${target === null ? sql`` : ofTarget(target)}
        order by p.created_at desc, p.id desc limit ${limit}
      ) newest
      order by newest.created_at desc, newest.id desc limit ${limit}
    ) e
    join repos r on r.tenant_id = e.tenant_id and r.id = e.repo_id
    order by e.created_at desc, e.id desc`.execute(fleet);
  return rows;
}

/** Repo names are compared without regard to case. A name may belong to several tenants. */
const ofTarget = ({ owner, name, issue }: AuditTarget): RawBuilder<unknown> => sql`
  and p.repo_id in (
    select n.id from repos n
    where n.tenant_id = t.id and lower(n.owner) = ${owner.toLowerCase()} and lower(n.name) = ${name.toLowerCase()})
  ${issue === null ? sql`` : sql`and p.issue_number = ${issue}`}`;

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

const before = (at: string, id: string, bound: { at: string; id: number } | null): RawBuilder<unknown> =>
  bound === null ? sql`` : sql`and (${sql.ref(at)}, ${sql.ref(id)}) < (${bound.at}::timestamptz, ${bound.id}::bigint)`;
