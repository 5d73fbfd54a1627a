import { DEPLOYMENT } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../../driver/database.ts';
import { fleetNote } from '../../driver/fragments.ts';
import { MAX_SIGHTINGS, minutesAgo, minutesSince, type Sighting, sightings } from './sighting.ts';

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
