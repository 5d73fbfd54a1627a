import type { RepoFigures } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { jsonList } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { countsOf } from './issue-counts.ts';

interface Query {
  tenantId: number;
  repoId: number;
  window: string;
  dayStart: string;
}

const ofRepo = (p: Params<Query>, alias: string): RawBuilder<unknown> =>
  sql`${sql.ref(`${alias}.tenant_id`)} = ${p('tenantId')} and ${sql.ref(`${alias}.repo_id`)} = ${p('repoId')}`;
const inWindow = (p: Params<Query>, column: string) => sql`${sql.ref(column)} >= svc_now() - ${p('window')}::interval`;
const issue = (p: Params<Query>, id: string) => sql`i.tenant_id = ${p('tenantId')} and i.id = ${sql.ref(id)}`;

const done = (p: Params<Query>) => sql`
  select distinct m.issue_id from transitions m
  where ${ofRepo(p, 'm')} and ${inWindow(p, 'm.at')} and m.to_state = 'done'`;

/** All pull requests, in short, of issues that were done, or had one opened or merged, in the window. */
const pulls = (p: Params<Query>) => sql`
  select r.issue_id, min(r.opened_at) as opened_at, min(r.merged_at) filter (where r.merged) as merged_at,
    bool_and(r.agent_authored) as by_agents
  from pull_requests r
  where r.tenant_id = ${p('tenantId')} and r.issue_id in (
    select d.issue_id from done d
    union
    select o.issue_id from pull_requests o where ${ofRepo(p, 'o')} and ${inWindow(p, 'o.opened_at')}
    union
    select g.issue_id from pull_requests g where ${ofRepo(p, 'g')} and g.merged and ${inWindow(p, 'g.merged_at')})
  group by r.issue_id`;

const cyclesBefore = (p: Params<Query>, id: string, at: string) => sql`
  select count(*) from transitions t
  where t.tenant_id = ${p('tenantId')} and t.issue_id = ${sql.ref(id)} and t.to_state = 'changes-requested'
    and t.at < ${sql.ref(at)}`;

const merged = (p: Params<Query>) => sql`
  select r.agent_authored, r.reverted_by, (${cyclesBefore(p, 'r.issue_id', 'r.merged_at')}) as cycles
  from pull_requests r where ${ofRepo(p, 'r')} and r.merged and ${inWindow(p, 'r.merged_at')}`;

const flow = (p: Params<Query>) => sql`
  (select count(*) from done) as done,
  (select percentile_cont(0.5) within group (order by extract(epoch from l.merged_at - i.host_created_at)::float8 / 60)
    from done d join pulls l using (issue_id) join issues i on ${issue(p, 'd.issue_id')}
    where l.merged_at is not null) as "cycleTimeMinutes",
  (select count(*) from done d join pulls l using (issue_id) where l.merged_at is not null) as "doneAndMerged",
  (select count(*) from issues i where ${ofRepo(p, 'i')} and i.is_paused and ${inWindow(p, 'i.paused_at')}) as paused,
  (select percentile_cont(0.5) within group (order by extract(epoch from l.opened_at - i.host_created_at)::float8 * 1000)
    from pulls l join issues i on ${issue(p, 'l.issue_id')}
    where ${inWindow(p, 'l.opened_at')}) as "timeToFirstPrMs"`;

const quality = (p: Params<Query>) => sql`
  (select count(*) from merged) as "mergedPulls",
  (select count(*) from merged where cycles = 0) as "passedAtOnce",
  (select coalesce(sum(cycles), 0) from merged) as "reviewCycles",
  (select count(*) from merged where reverted_by is not null) as "revertedPulls",
  (select count(*) from merged where agent_authored) as "agentPulls",
  (select count(*) from pulls l where ${inWindow(p, 'l.merged_at')}) as "mergedIssues",
  (select count(*) from pulls l where ${inWindow(p, 'l.merged_at')} and l.by_agents
    and (${cyclesBefore(p, 'l.issue_id', 'l.merged_at')}) = 0) as "autonomousIssues"`;

const usdSince = (p: Params<Query>, from: RawBuilder<unknown>) => sql`
  (select trim_scale(round(coalesce(sum(c.amount_usd), 0), 4)) from cost_events c
    where ${ofRepo(p, 'c')} and c.created_at >= ${from})`;

const waiting = (p: Params<Query>) => sql`
  (select count(*) from dead_letters d where ${ofRepo(p, 'd')} and d.resolved_at is null) as "openLetters",
  (select count(*) from projections j where ${ofRepo(p, 'j')} and j.status in ('pending', 'failed')) as writes,
  (select count(*) from projections j where ${ofRepo(p, 'j')} and j.status = 'failed') as "failedWrites"`;

const figures = prepared(
  'repo-figures',
  (_db, p: Params<Query>) => sql<RepoFigures>`
    with done as materialized (${done(p)}), pulls as materialized (${pulls(p)}), merged as materialized (${merged(p)})
    select svc_now() as now,
      ${jsonList(
        sql`
        select k.state, k.is_paused as "isPaused", sum(k.n) as n
        from (${countsOf(p('tenantId'), p('repoId'))}) k group by k.state, k.is_paused`,
      )} as counts,
      ${flow(p)}, ${quality(p)},
      ${usdSince(p, sql`${p('dayStart')}::timestamptz`)} as "costTodayUsd",
      ${usdSince(p, sql`svc_now() - ${p('window')}::interval`)} as "costWindowUsd",
      ${waiting(p)}, w.n as "pendingTasks", w.average as "avgWaitMs", w.oldest as "oldestWaitMs"
    from (
      select count(*) as n, avg(a.ms)::float8 as average, max(a.ms)::float8 as oldest
      from tasks t
      cross join lateral (select extract(epoch from svc_now() - t.created_at)::float8 * 1000 as ms) a
      where ${ofRepo(p, 't')} and t.status = 'pending'
    ) w`,
);

/**
 * The figures of one repo over a window that ends now. Cost: the repo's events in the window, each kind by an index
 * over repo and time, a probe of the transitions for each merge, and live rows.
 * @param dayStart when the day began, ISO 8601.
 */
export async function repoFigures(
  db: Db,
  { tenantId, repoId }: { tenantId: number; repoId: number },
  { windowDays, dayStart }: { windowDays: number; dayStart: string },
): Promise<RepoFigures> {
  const row = await figures.first(db, { tenantId, repoId, window: `${windowDays} days`, dayStart });
  if (!row) throw new Error('a statement without a condition gave no row');
  return row;
}
