import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** A repo and an agent: tasks of one kind in one place. */
interface Executor {
  tenantId: number;
  repoId: number;
  agent: string;
}

export interface DurationEstimate extends Executor {
  medianMs: number;
  samples: number;
}

/**
 * Task durations: the median from claim to completion of the runs completed in the last 7 days (interface: Est.
 * duration). Runs of more than a week are left out. Cost: the runs of these executors in two weeks, by index
 * runs_of_agent.
 * @returns those with any sample; the caller decides whether there are enough.
 */
export async function durationEstimates(fleet: Db, executors: readonly Executor[]): Promise<DurationEstimate[]> {
  if (executors.length === 0) return [];
  const { rows } = await sql<DurationEstimate>`
    ${fleetNote('operators see all tenants')}
    select r.tenant_id as "tenantId", r.repo_id as "repoId", r.agent,
      percentile_cont(0.5) within group (order by extract(epoch from r.finished_at - r.claimed_at)::float8 * 1000)
        as "medianMs",
      count(*) as samples
    from unnest(${executors.map((of) => of.tenantId)}::bigint[], ${executors.map((of) => of.repoId)}::bigint[],
      ${executors.map((of) => of.agent)}::text[]) as wanted (tenant_id, repo_id, agent)
    join runs r on r.tenant_id = wanted.tenant_id and r.repo_id = wanted.repo_id and r.agent = wanted.agent
    where r.status = 'finished' and r.finished_at > svc_now() - interval '7 days'
      and r.claimed_at > svc_now() - interval '14 days'
    group by r.tenant_id, r.repo_id, r.agent`.execute(fleet);
  return rows;
}
