import { sql } from 'kysely';
import type { Db } from '../../driver/database.ts';
import { fleetNote } from '../../driver/fragments.ts';
import { MAX_SIGHTINGS, minutesAgo, minutesSince, repoOf, type Sighting, sightings, slugOf } from './sighting.ts';

const note = fleetNote('detectors watch all tenants');

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
