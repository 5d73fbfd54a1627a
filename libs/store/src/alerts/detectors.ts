import { DEPLOYMENT } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { MIDNIGHT, SPENT_TODAY } from '../costs/budgets.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { hasNoWorker, IS_OPEN } from '../queue/tasks-without-worker.ts';

/** A problem that a detector found; the caller that raises the alert formats the message. */
export interface Sighting {
  tenant_id: number;
  /** Identifies the problem while it lasts: the fingerprint without the detector's name. */
  subject: string;
  /** Slug, owner/name. */
  repo: string | null;
  issue_number: number | null;
  worker_id: string | null;
  value: number;
  /** Detail for the message: a name, a state, an error. */
  detail: string | null;
}

/** Limit per kind: beyond it, there is one common cause to look for instead of a list. */
export const MAX_SIGHTINGS = 200;

const sightings = async (fleet: Db, statement: RawBuilder<Sighting>): Promise<Sighting[]> =>
  (await statement.execute(fleet)).rows;

export const slugOf = sql<string>`r.owner || '/' || r.name`;
export const repoOf = (alias: string): RawBuilder<unknown> =>
  sql`join repos r on r.tenant_id = ${sql.ref(`${alias}.tenant_id`)} and r.id = ${sql.ref(`${alias}.repo_id`)}`;
export const minutesAgo = (minutes: number): RawBuilder<string> =>
  sql<string>`svc_now() - make_interval(secs => ${minutes * 60})`;
const minutesSince = (column: string): RawBuilder<number> =>
  sql<number>`floor(extract(epoch from svc_now() - ${sql.ref(column)}) / 60)::int`;

const note = fleetNote('detectors watch all tenants');

/**
 * Repos in which one error ended at least this many runs within an hour; value = runs. Cost: the failures of that hour.
 */
export const failingAgain = (fleet: Db, runs: number): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select f.tenant_id, f.repo_id || ':' || f.error_fingerprint as subject, ${slugOf} as repo,
        null::int as issue_number, null::text as worker_id, f.n as value, left(f.message, 200) as detail
      from (
        select tenant_id, repo_id, error_fingerprint, count(*)::int as n, max(error_message) as message
        from runs where error_fingerprint is not null and finished_at > ${minutesAgo(60)}
        group by 1, 2, 3 having count(*) >= ${runs}
      ) f ${repoOf('f')}
      order by f.n desc, subject limit ${MAX_SIGHTINGS}`,
  );

/**
 * Repos with at least this many new dead letters within an hour; value = dead letters. Cost: the dead letters of that
 * hour.
 */
export const deadLettersRising = (fleet: Db, deadLetters: number): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select d.tenant_id, d.repo_id::text as subject, ${slugOf} as repo, null::int as issue_number,
        null::text as worker_id, d.n as value, null::text as detail
      from (
        select tenant_id, repo_id, count(*)::int as n from dead_letters
        where created_at > ${minutesAgo(60)} group by 1, 2 having count(*) >= ${deadLetters}
      ) d ${repoOf('d')}
      order by d.n desc, subject limit ${MAX_SIGHTINGS}`,
  );

/**
 * Repos with a host write that has been pending for long; value = minutes. A merge that waits for checks does not count:
 * its time limit is a setting of its own. Cost: pending entries (projections_by_status).
 */
export const unwrittenForLong = (fleet: Db, minutes: number): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select p.tenant_id, p.repo_id::text as subject, ${slugOf} as repo, null::int as issue_number,
        null::text as worker_id, ${minutesSince('p.oldest')} as value,
        p.n || coalesce(' ' || p.error, '') as detail
      from (
        select tenant_id, repo_id, min(created_at) as oldest, count(*) as n,
          left((array_agg(error order by id))[1], 500) as error
        from projections where status = 'pending'
          and not (action ->> 'type' = 'mergePR' and retry_after is not null and error is null)
        group by 1, 2
      ) p ${repoOf('p')}
      where p.oldest <= ${minutesAgo(minutes)}
      order by p.oldest limit ${MAX_SIGHTINGS}`,
  );

/** Enabled repos that cannot be worked on; value = minutes, detail = reason. Cost: their rows (repos_unavailable). */
export const unavailableRepos = (fleet: Db): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select r.tenant_id, r.id::text as subject, ${slugOf} as repo, null::int as issue_number,
        null::text as worker_id, ${minutesSince('r.unavailable_since')} as value, r.unavailable as detail
      from repos r where r.unavailable is not null and r.enabled
      order by r.unavailable_since limit ${MAX_SIGHTINGS}`,
  );

/** Minimum number of days with spending for a mean. */
const SPENDING_DAYS = 3;

/**
 * Tenants that spent far more today (UTC) than the mean of the seven days before; value = USD of today, detail = that
 * mean. A tenant with fewer than three days of spending has no mean. Cost: the daily sums of seven days, and the cost events of
 * today.
 */
export const spendingFast = (fleet: Db, { factor, minUsd }: { factor: number; minUsd: number }): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select s.tenant_id, 'day' as subject, null::text as repo, null::int as issue_number, null::text as worker_id,
        s.today as value, round(s.mean, 2)::text as detail
      from (
        select today.tenant_id, today.usd as today, sum(d.usd) / 7 as mean, count(distinct d.at) as days
        from (${SPENT_TODAY}) today
        join cost_sums d on d.tenant_id = today.tenant_id and d.grain = 'day' and d.usd > 0
          and d.at >= ${MIDNIGHT} - interval '7 days' and d.at < ${MIDNIGHT}
        group by 1, 2
      ) s
      where s.days >= ${SPENDING_DAYS} and s.today >= ${minUsd} and s.today > s.mean * ${factor}::numeric
      order by s.today desc limit ${MAX_SIGHTINGS}`,
  );

/** Processes refresh their rows every 15 s; rows of ended processes are ignored after this many minutes. */
const REFRESHED_WITHIN_MIN = 2;

/**
 * Background loops that failed this many times in a row or finish no run, by process; value = minutes since it began.
 * Cost: the rows of failing loops.
 */
export const brokenLoops = (fleet: Db, failures: number): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${fleetNote('background loops belong to the deployment')}
      select ${DEPLOYMENT}::int as tenant_id, l.loop || '@' || l.process as subject, null::text as repo,
        null::int as issue_number, null::text as worker_id, ${minutesSince('l.since')} as value,
        l.loop || ' of ' || l.process || case l.problem
          when 'late' then ' finishes no run'
          else ' failed ' || l.failures || ' times in a row: ' || coalesce(left(l.error, 200), 'unknown')
        end as detail
      from loop_problems l
      where l.seen_at > ${minutesAgo(REFRESHED_WITHIN_MIN)} and (l.problem = 'late' or l.failures >= ${failures})
      order by l.since, subject limit ${MAX_SIGHTINGS}`,
  );

/** Workers that fell silent without leaving; value = minutes of silence. Cost: the workers on the floor. */
export const silentForLong = (fleet: Db, minutes: number): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select w.tenant_id, w.id as subject, null::text as repo, null::int as issue_number, w.id as worker_id,
        ${minutesSince('w.last_heartbeat_at')} as value, w.name as detail
      from workers w
      where w.left_at is null and w.last_heartbeat_at <= ${minutesAgo(minutes)}
      order by w.last_heartbeat_at limit ${MAX_SIGHTINGS}`,
  );

/** Tasks that have been claimed for long; value = minutes. Cost: the claims (index tasks_of_worker). */
export const claimedForLong = (fleet: Db, minutes: number): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select t.tenant_id, t.id::text as subject, ${slugOf} as repo, nullif(t.issue_number, 0) as issue_number,
        t.claimed_by as worker_id, ${minutesSince('t.claimed_at')} as value, t.task_type as detail
      from tasks t ${repoOf('t')}
      where t.status = 'claimed' and t.claimed_at <= ${minutesAgo(minutes)}
      order by t.claimed_at limit ${MAX_SIGHTINGS}`,
  );

/** Repos with claimable tasks that have not been claimed for long; value = minutes. Cost: waiting tasks, once. */
export const queuedForLong = (fleet: Db, minutes: number): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select t.tenant_id, t.repo_id::text as subject, ${slugOf} as repo, null::int as issue_number,
        null::text as worker_id, ${minutesSince('t.oldest')} as value, t.n::text as detail
      from (
        select tenant_id, repo_id, min(created_at) as oldest, count(*) as n
        from tasks where status = 'pending' and held is null group by 1, 2
      ) t ${repoOf('t')} and r.enabled
      where t.oldest <= ${minutesAgo(minutes)}
      order by t.oldest limit ${MAX_SIGHTINGS}`,
  );

/**
 * Repos with tasks that have been claimable for these minutes although no worker is there that takes them; value = minutes,
 * detail = their number, types and agents. Cost: waiting tasks, once, and the workers of a tenant for each repo, type and
 * agent of them.
 */
export const withoutWorkerForLong = (fleet: Db, minutes: number): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select q.tenant_id, q.repo_id::text as subject, q.repo, null::int as issue_number, null::text as worker_id,
        ${minutesSince('q.oldest')} as value, q.n || ' ' || q.types as detail
      from (
        select t.tenant_id, t.repo_id, ${slugOf} as repo, min(t.oldest) as oldest, sum(t.n) as n,
          string_agg(t.task_type || coalesce(' by ' || nullif(t.compared_agent, ''), ''), ', '
            order by t.task_type, t.compared_agent) as types
        from (
          select tenant_id, repo_id, task_type, compared_agent, min(ready_at) as oldest, count(*) as n
          from tasks where status = 'pending' and held is null group by 1, 2, 3, 4
        ) t ${repoOf('t')} and ${IS_OPEN}
        where t.oldest <= ${minutesAgo(minutes)} and ${hasNoWorker(sql`t.tenant_id`)}
        group by 1, 2, 3
      ) q
      order by q.oldest limit ${MAX_SIGHTINGS}`,
  );

/**
 * Issues in a state with work that is neither in progress nor blocked: no task, no host write about their pull request,
 * no dead letter, no pause. value = minutes in the state. Cost: the issues over the limit (index issues_standing), a
 * few probes for each.
 */
export const abandonedForLong = (fleet: Db, minutes: number): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select i.tenant_id, i.repo_id || '#' || i.issue_number as subject, ${slugOf} as repo, i.issue_number,
        null::text as worker_id, ${minutesSince('i.state_entered_at')} as value, i.state as detail
      from issues i
      ${repoOf('i')} and r.enabled
      join workflow_snapshots w on w.tenant_id = i.tenant_id and w.repo_id = i.repo_id and w.active
      where i.standing_since_hour <= ${minutesAgo(minutes)} and i.state_entered_at <= ${minutesAgo(minutes)}
        and exists (
          select from jsonb_array_elements(w.body->'states') s
          where s->>'name' = i.state and s->>'taskType' is not null)
        and not exists (
          select from tasks t
          where t.tenant_id = i.tenant_id and t.issue_id = i.id
            and t.task_type in ('analyze', 'plan', 'develop', 'review', 'merge'))
        and not exists (
          select from projections p
          where p.tenant_id = i.tenant_id and p.repo_id = i.repo_id and p.issue_number = i.issue_number
            and p.lane = 'pr' and p.status = 'pending')
        and not exists (
          select from dead_letters d
          where d.tenant_id = i.tenant_id and d.issue_id = i.id and d.resolved_at is null)
      order by i.standing_since_hour, i.tenant_id, i.id limit ${MAX_SIGHTINGS}`,
  );
