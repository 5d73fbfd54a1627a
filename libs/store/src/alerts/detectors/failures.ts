import { sql } from 'kysely';
import type { Db } from '../../driver/database.ts';
import { fleetNote } from '../../driver/fragments.ts';
import { MAX_SIGHTINGS, minutesAgo, minutesSince, repoOf, type Sighting, sightings, slugOf } from './sighting.ts';

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
export const deadLettersRising = (fleet: Db, letters: number): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select d.tenant_id, d.repo_id::text as subject, ${slugOf} as repo, null::int as issue_number,
        null::text as worker_id, d.n as value, null::text as detail
      from (
        select tenant_id, repo_id, count(*)::int as n from dead_letters
        where created_at > ${minutesAgo(60)} group by 1, 2 having count(*) >= ${letters}
      ) d ${repoOf('d')}
      order by d.n desc, subject limit ${MAX_SIGHTINGS}`,
  );

/**
 * Repos with a host write that has been pending for long; value = minutes. Cost: pending entries
 * (projections_by_status).
 */
export const unwrittenForLong = (fleet: Db, minutes: number): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select p.tenant_id, p.repo_id::text as subject, ${slugOf} as repo, null::int as issue_number,
        null::text as worker_id, ${minutesSince('p.oldest')} as value, p.n::text as detail
      from (
        select tenant_id, repo_id, min(created_at) as oldest, count(*) as n
        from projections where status = 'pending' group by 1, 2
      ) p ${repoOf('p')}
      where p.oldest <= ${minutesAgo(minutes)}
      order by p.oldest limit ${MAX_SIGHTINGS}`,
  );

/** Minimum number of days with spending for a mean. */
const SPENDING_DAYS = 3;

/**
 * Tenants that spent far more today (UTC) than the mean of the seven days before; value = USD of today, detail = that
 * mean. A tenant with fewer than three days of spending has no mean. Cost: eight days of daily_spend.
 */
export const spendingFast = (fleet: Db, { factor, minUsd }: { factor: number; minUsd: number }): Promise<Sighting[]> =>
  sightings(
    fleet,
    sql<Sighting>`
      ${note}
      select s.tenant_id, 'day' as subject, null::text as repo, null::int as issue_number, null::text as worker_id,
        s.today as value, round(s.mean, 2)::text as detail
      from (
        select d.tenant_id, coalesce(sum(d.spent_usd) filter (where d.day = x.today), 0) as today,
          sum(d.spent_usd) filter (where d.day < x.today) / 7 as mean,
          count(*) filter (where d.day < x.today and d.spent_usd > 0) as days
        from daily_spend d cross join (select (svc_now() at time zone 'UTC')::date as today) x
        where d.day between x.today - 7 and x.today group by 1
      ) s
      where s.days >= ${SPENDING_DAYS} and s.today >= ${minUsd} and s.today > s.mean * ${factor}::numeric
      order by s.today desc limit ${MAX_SIGHTINGS}`,
  );
