import type { ErrorClass, State, TaskType, WorkerStatus } from '@pipeline/domain';
import { sql } from 'kysely';
import { type OrgScope, type Reach, reachableRepo, reachOf } from '../accounts/org-scope.ts';
import { countsOf } from '../analytics/issue-counts.ts';
import { type CostSums, costsOfRepo } from '../costs/cost-summary.ts';
import type { Db } from '../driver/database.ts';
import { jsonList, wireTime } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** The lists of an overview read one more row than is shown, to detect truncation. */
export const OVERVIEW_LIST = 50;

interface StatusRow {
  repo: string;
  repoId: number;
  now: string;
  counts: { state: State; isPaused: boolean; n: number }[];
  pending: { taskType: TaskType; n: number; oldestMs: number }[];
  inFlight: InFlightTask[];
  workers: PoolWorker[];
  blocked: BlockedIssue[];
  failures: FailedRun[];
  deadLetters: number;
  writes: number;
  failedWrites: number;
}

export interface InFlightTask {
  id: string;
  taskType: TaskType;
  issueNumber: number | null;
  claimedBy: string;
  claimedAt: string;
  runningMs: number;
}

export interface PoolWorker {
  id: string;
  status: WorkerStatus;
  taskType: TaskType | null;
  issueNumber: number | null;
  lastHeartbeat: string | null;
  lastClaimAt: string | null;
  /** Since when it is silent or stalled. */
  troubledSince: string | null;
}

export interface BlockedIssue {
  issueNumber: number;
  title: string;
  state: State;
  blockReason: string | null;
  blockClassification: ErrorClass | null;
  blockedSince: string;
}

export interface FailedRun {
  issueNumber: number | null;
  agentName: string;
  errorMessage: string | null;
  finishedAt: string;
}

type Query = Reach & { silence: string };

const ofRepo = (p: Params<Query>, alias: string) =>
  sql`${sql.ref(`${alias}.tenant_id`)} = ${p('tenantId')} and ${sql.ref(`${alias}.repo_id`)} = repo.id`;

const tasks = (p: Params<Query>) => sql`
  ${jsonList(sql`
    select t.task_type as "taskType", count(*) as n,
      (extract(epoch from svc_now() - min(t.created_at)) * 1000)::bigint as "oldestMs"
    from tasks t where ${ofRepo(p, 't')} and t.status = 'pending' group by t.task_type`)} as pending,
  ${jsonList(
    sql`
    select t.id, t.task_type as "taskType", nullif(t.issue_number, 0) as "issueNumber", t.claimed_by as "claimedBy",
      ${wireTime('t.claimed_at')} as "claimedAt",
      greatest(0, extract(epoch from svc_now() - t.claimed_at) * 1000)::bigint as "runningMs"
    from tasks t where ${ofRepo(p, 't')} and t.status = 'claimed' order by t.claimed_at, t.id`,
    OVERVIEW_LIST + 1,
  )} as "inFlight"`;

/** Workers that are present, or fell silent and are still on the floor, and that serve the repo or any. */
const workers = (p: Params<Query>) =>
  jsonList(
    sql`
  select w.id, w.status, held.task_type as "taskType", held.issue_number as "issueNumber",
    ${wireTime('w.last_heartbeat_at')} as "lastHeartbeat", ${wireTime('held.claimed_at')} as "lastClaimAt",
    ${wireTime('trouble.since')} as "troubledSince"
  from workers w
  left join lateral (
    select t.task_type, nullif(t.issue_number, 0) as issue_number, t.claimed_at from tasks t
    where t.tenant_id = ${p('tenantId')} and t.claimed_by = w.id and t.status = 'claimed'
    order by t.claimed_at limit 1
  ) held on true
  cross join lateral (
    select least(w.stalled_since, case when w.last_heartbeat_at < svc_now() - ${p('silence')}::interval
      then w.last_heartbeat_at + ${p('silence')}::interval end) as since
  ) trouble
  where w.tenant_id = ${p('tenantId')} and w.left_at is null
    and (w.repos = '{}' or exists (select from unnest(w.repos) as served where lower(served) = ${p('slug')}))
  order by w.name`,
    1_000,
  );

const stops = (p: Params<Query>) => sql`
  ${jsonList(
    sql`
    select i.issue_number as "issueNumber", left(i.title, 256) as title, i.state, i.block_reason as "blockReason",
      i.block_classification as "blockClassification", ${wireTime('i.state_entered_at')} as "blockedSince"
    from issues i where ${ofRepo(p, 'i')} and i.is_blocked and i.state <> 'done'
    order by i.state_entered_at, i.issue_number`,
    OVERVIEW_LIST + 1,
  )} as blocked,
  ${jsonList(
    sql`
    select nullif(r.issue_number, 0) as "issueNumber", r.agent as "agentName", left(r.error_message, 2000) as "errorMessage",
      ${wireTime('r.finished_at')} as "finishedAt"
    from runs r where ${ofRepo(p, 'r')} and r.error_message is not null and r.finished_at is not null
    order by r.finished_at desc`,
    OVERVIEW_LIST + 1,
  )} as failures`;

const overview = prepared(
  'overview-of-repo',
  (_db, p: Params<Query>) => sql<StatusRow>`
    with repo as (${reachableRepo(p)})
    select repo.owner || '/' || repo.name as repo, repo.id as "repoId", svc_now() as now,
      ${jsonList(
        sql`
        select k.state, k.is_paused as "isPaused", sum(k.n) as n
        from (${countsOf(p('tenantId'), sql`repo.id`)}) k group by k.state, k.is_paused`,
      )} as counts,
      ${tasks(p)}, ${workers(p)} as workers, ${stops(p)},
      (select count(*) from dead_letters d where ${ofRepo(p, 'd')} and d.resolved_at is null) as "deadLetters",
      (select count(*) from projections j where ${ofRepo(p, 'j')} and j.status in ('pending', 'failed')) as writes,
      (select count(*) from projections j where ${ofRepo(p, 'j')} and j.status = 'failed') as "failedWrites"
    from repo`,
);

type OverviewRow = Omit<StatusRow, 'repoId'> & { cost: CostSums };

/**
 * Status of a repo's pipeline: its live rows in one statement, then its costs in another, because a distributed store
 * keeps the rollups apart from the tables of tenants. Costs live rows: waiting tasks, blocked issues, workers; and the
 * repo's cost rollups.
 * @param times how long a worker may be silent (ms), and when the day began.
 * @returns undefined for a repo out of scope.
 */
export async function repoOverview(
  read: Db,
  scope: OrgScope,
  slug: string,
  { silenceMs, dayStart }: { silenceMs: number; dayStart: string },
): Promise<OverviewRow | undefined> {
  const found = await overview.first(read, { ...reachOf(scope, slug), silence: `${silenceMs} ms` });
  if (!found) return undefined;
  const { repoId, ...status } = found;
  return { ...status, cost: await costsOfRepo(read, { tenantId: scope.tenantId, repoId }, dayStart) };
}
