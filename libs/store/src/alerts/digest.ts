import type { RecentError, State } from '@pipeline/domain';
import { sql } from 'kysely';
import { MIDNIGHT, SPENT_TODAY } from '../costs/budgets.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

const MAX_MESSAGE = 500;

interface DigestCount {
  state: State;
  /** owner/name, and `@tenant` where several have one of that name. */
  repo: string;
  n: number;
  blocked: number;
}

/** Issues of the enabled repos by state and repo, without zero counts. Costs the counters and their deltas. */
export async function digestCounts(fleet: Db): Promise<DigestCount[]> {
  const { rows } = await sql<DigestCount>`
    ${fleetNote('operators see all tenants')}
    select k.state, r.label as repo, sum(k.n) as n,
      coalesce(sum(k.n) filter (where k.is_blocked and k.state <> 'done'), 0) as blocked
    from (
      select r.tenant_id, r.id,
        r.owner || '/' || r.name || case when count(*) over (partition by r.slug_key) > 1 then '@' || t.external_id
          else '' end as label
      from repos r join tenants t on t.id = r.tenant_id
      where r.enabled
    ) r
    join (
      select c.tenant_id, c.repo_id, c.state, c.is_blocked, c.n from issue_counts c
      union all
      select d.tenant_id, d.repo_id, d.state, d.is_blocked, d.n from issue_count_deltas d
    ) k on k.tenant_id = r.tenant_id and k.repo_id = r.id
    group by k.state, r.label
    having sum(k.n) > 0
    order by r.label, k.state`.execute(fleet);
  return rows;
}

/**
 * Errors of runs that ended in the last 24 hours, by fingerprint, the most frequent first, each with its newest
 * message. Cost: the failed runs of that time, by index runs_failed_of_repo.
 */
export async function recentErrors(fleet: Db, limit: number): Promise<RecentError[]> {
  const { rows } = await sql<RecentError>`
    ${fleetNote('operators see all tenants')}
    select e.error_fingerprint as fingerprint, count(*) as count,
      left((array_agg(e.error_message order by e.finished_at desc))[1], ${sql.lit(MAX_MESSAGE)}) as message
    from repos r
    cross join lateral (
      select u.error_fingerprint, u.error_message, u.finished_at from runs u
      where u.tenant_id = r.tenant_id and u.repo_id = r.id and u.error_message is not null
        and u.finished_at > svc_now() - interval '24 hours' and u.finished_at <= svc_now()
    ) e
    where r.enabled and e.error_fingerprint is not null
    group by e.error_fingerprint
    order by count(*) desc, e.error_fingerprint
    limit ${limit}`.execute(fleet);
  return rows;
}

/**
 * Costs of all tenants over so many days up to now, in USD; null without cost events. Cost: the daily sums of the
 * whole days, and the cost events of today and of the first day, which the window cuts.
 */
export async function spentInDays(fleet: Db, days: number): Promise<number | null> {
  const { rows } = await sql<{ usd: number | null }>`
    ${fleetNote('operators see all tenants')}
    with cut as (
      select svc_now() - make_interval(days => ${days}::integer) as starts,
        ((svc_now() - make_interval(days => ${days}::integer)) at time zone 'UTC')::date + 1 as whole
    )
    select trim_scale(round(sum(p.usd), 4)) as usd
    from (
      select d.usd from cost_sums d, cut
      where d.grain = 'day' and d.at >= cut.whole::timestamp at time zone 'UTC' and d.at < ${MIDNIGHT}
      union all
      select today.usd from (${SPENT_TODAY}) today
      union all
      select c.amount_usd from cut, repos r
      join cost_events c on c.tenant_id = r.tenant_id and c.repo_id = r.id
      where c.created_at >= cut.starts and c.created_at < cut.whole::timestamp at time zone 'UTC'
    ) p`.execute(fleet);
  return rows[0]?.usd ?? null;
}

interface RepoTroubles {
  blockReasons: { blockReason: string; count: number }[];
  fingerprints: { fingerprint: string; count: number }[];
}

const TOP = sql.lit(5);

/** Block reasons and run errors of a repo in the last 7 days, the most frequent first. */
export async function troublesOf(
  db: Db,
  { tenantId, repoId }: { tenantId: number; repoId: number },
): Promise<RepoTroubles> {
  const blockReasons = await sql<RepoTroubles['blockReasons'][number]>`
    select coalesce(e.payload->>'blockReason', 'unknown') as "blockReason", count(*) as count
    from pipeline_events e
    where e.tenant_id = ${tenantId} and e.repo_id = ${repoId} and e.event_type = 'issue_blocked'
      and e.created_at >= svc_now() - interval '7 days'
    group by 1 order by 2 desc, 1 limit ${TOP}`.execute(db);
  const fingerprints = await sql<RepoTroubles['fingerprints'][number]>`
    select r.error_fingerprint as fingerprint, count(*) as count
    from runs r
    where r.tenant_id = ${tenantId} and r.repo_id = ${repoId} and r.error_message is not null
      and r.finished_at >= svc_now() - interval '7 days' and r.error_fingerprint is not null
    group by 1 order by 2 desc, 1 limit ${TOP}`.execute(db);
  return { blockReasons: blockReasons.rows, fingerprints: fingerprints.rows };
}
