import type { State, TaskType } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

const NOTE = fleetNote('operators see all tenants');

/** An enabled repo, and the names that identify it. */
export interface FleetRepo {
  tenantId: number;
  /** External id. */
  tenant: string;
  repoId: number;
  owner: string;
  name: string;
}

export async function fleetRepos(fleet: Db): Promise<FleetRepo[]> {
  const { rows } = await sql<FleetRepo>`
    ${NOTE}
    select r.tenant_id as "tenantId", t.external_id as tenant, r.id as "repoId", r.owner, r.name
    from repos r join tenants t on t.id = r.tenant_id
    where r.enabled order by r.slug_key, t.external_id`.execute(fleet);
  return rows;
}

interface OfRepo {
  tenantId: number;
  repoId: number;
}

export interface StateCount extends OfRepo {
  state: State;
  isPaused: boolean;
  isBlocked: boolean;
  n: number;
}

/**
 * Number of issues of each enabled repo by state, from the counters plus pending deltas. Costs the counters: some
 * dozens for each repo, however many issues there are.
 */
export async function fleetStateCounts(fleet: Db): Promise<StateCount[]> {
  const { rows } = await sql<StateCount>`
    ${NOTE}
    select c.tenant_id as "tenantId", c.repo_id as "repoId", c.state, c.is_paused as "isPaused",
      c.is_blocked as "isBlocked", sum(c.n) as n
    from (
      select tenant_id, repo_id, state, is_paused, is_blocked, n from issue_counts
      union all
      select tenant_id, repo_id, state, is_paused, is_blocked, n from issue_count_deltas
    ) c
    join repos r on r.tenant_id = c.tenant_id and r.id = c.repo_id and r.enabled
    group by 1, 2, 3, 4, 5
    having sum(c.n) <> 0`.execute(fleet);
  return rows;
}

/** Unresolved dead letters by repo, without zero counts (index dead_letters_open). */
export async function openDeadLettersByRepo(fleet: Db): Promise<(OfRepo & { n: number })[]> {
  const { rows } = await sql<OfRepo & { n: number }>`
    ${NOTE}
    select d.tenant_id as "tenantId", d.repo_id as "repoId", count(*) as n
    from dead_letters d
    join repos r on r.tenant_id = d.tenant_id and r.id = d.repo_id and r.enabled
    where d.resolved_at is null group by 1, 2`.execute(fleet);
  return rows;
}

/** An issue with a claimed task. */
export interface IssueInFlight extends OfRepo {
  taskType: TaskType;
  issueNumber: number;
}

/** Costs the claimed tasks. */
export async function issuesInFlight(fleet: Db): Promise<IssueInFlight[]> {
  const { rows } = await sql<IssueInFlight>`
    ${NOTE}
    select t.tenant_id as "tenantId", t.repo_id as "repoId", t.task_type as "taskType",
      t.issue_number as "issueNumber"
    from tasks t
    join repos r on r.tenant_id = t.tenant_id and r.id = t.repo_id and r.enabled
    where t.status = 'claimed' and t.issue_id is not null
    order by t.tenant_id, t.repo_id, t.issue_number`.execute(fleet);
  return rows;
}
