import { sql } from 'kysely';
import type { Db } from '../connection.ts';
import { type Params, prepared } from '../prepared.ts';

/** What the figures of a repo and a window are made of. Nulls where there is nothing to take a median or mean of. */
export interface RepoFlow {
  /** Issues that moved to done, each once; of them those with a merged pull request. */
  done: number;
  doneMerged: number;
  /** Issues that were paused in the window and still are. */
  stillPaused: number;
  cycleMinutes: number | null;
  firstPrMs: number | null;
  mergedPrs: number;
  /** Of those: merged without a request for changes, opened by agents, reverted later. */
  firstPassPrs: number;
  agentPrs: number;
  revertedPrs: number;
  reviewCycles: number | null;
  /** Issues by their first merge; of them those without a person's hand in it. */
  mergedIssues: number;
  autonomousIssues: number;
}

type Query = { tenantId: number; repoId: number; days: number };

const flow = prepared('flow-of-repo', (_db, p: Params<Query>) => {
  const ofRepo = (alias: string) =>
    sql`${sql.ref(`${alias}.tenant_id`)} = ${p('tenantId')} and ${sql.ref(`${alias}.repo_id`)} = ${p('repoId')}`;
  const lately = (column: string) =>
    sql`${sql.ref(column)} >= svc_now() - make_interval(days => ${p('days')}::integer)
      and ${sql.ref(column)} <= svc_now()`;
  const cycles = (issue: string, before: string) => sql`(
    select count(*) from transitions t
    where t.tenant_id = ${p('tenantId')} and t.issue_id = ${sql.ref(issue)} and t.to_state = 'changes-requested'
      and t.at < ${sql.ref(before)})`;
  return sql<RepoFlow>`
    with ended as materialized (
      select distinct m.issue_id from transitions m where ${ofRepo('m')} and ${lately('m.at')} and m.to_state = 'done'
    ),
    merged as materialized (
      select m.issue_id, m.number, m.merge_sha, m.agent_authored, ${cycles('m.issue_id', 'm.merged_at')} as cycles
      from pull_requests m where ${ofRepo('m')} and m.merged and ${lately('m.merged_at')}
    ),
    reverting as materialized (
      select (regexp_match(v.body, 'Reverts (?:[[:alnum:]_.-]+/[[:alnum:]_.-]+)?#([0-9]{1,9})'))[1]::integer as number,
        (regexp_match(v.body, 'This reverts commit ([0-9a-f]{40})'))[1] as sha
      from pull_requests v where ${ofRepo('v')} and v.merged and ${lately('v.merged_at')}
    ),
    pulls as materialized (
      select o.issue_id, min(o.opened_at) as opened, min(o.merged_at) filter (where o.merged) as merged,
        bool_and(o.agent_authored) as by_agents
      from pull_requests o
      where o.tenant_id = ${p('tenantId')} and o.issue_id in (
        select e.issue_id from ended e
        union select g.issue_id from merged g
        union select n.issue_id from pull_requests n where ${ofRepo('n')} and ${lately('n.opened_at')})
      group by o.issue_id
    ),
    told as materialized (
      select u.issue_id, u.opened, u.merged, u.by_agents, i.host_created_at as created, e.issue_id is not null as is_done
      from pulls u
      join issues i on i.tenant_id = ${p('tenantId')} and i.id = u.issue_id
      left join ended e on e.issue_id = u.issue_id
    )
    select (select count(*) from ended) as "done", t."doneMerged", t."cycleMinutes", t."firstPrMs", t."mergedIssues",
      t."autonomousIssues", g."mergedPrs", g."firstPassPrs", g."agentPrs", g."revertedPrs", g."reviewCycles",
      (select count(*) from issues i where ${ofRepo('i')} and i.is_paused and ${lately('i.paused_at')}) as "stillPaused"
    from (
      select count(*) filter (where is_done and merged is not null) as "doneMerged",
        percentile_cont(0.5) within group (order by extract(epoch from merged - created)::float8 / 60)
          filter (where is_done and merged is not null) as "cycleMinutes",
        percentile_cont(0.5) within group (order by extract(epoch from opened - created)::float8 * 1000)
          filter (where ${lately('opened')}) as "firstPrMs",
        count(*) filter (where ${lately('merged')}) as "mergedIssues",
        count(*) filter (where ${lately('merged')} and by_agents and ${cycles('told.issue_id', 'told.merged')} = 0)
          as "autonomousIssues"
      from told
    ) t
    cross join (
      select count(*) as "mergedPrs", count(*) filter (where cycles = 0) as "firstPassPrs",
        count(*) filter (where agent_authored) as "agentPrs",
        count(*) filter (where exists (
          select from reverting v where v.number = merged.number or v.sha = merged.merge_sha)) as "revertedPrs",
        avg(cycles)::float8 as "reviewCycles"
      from merged
    ) g`;
});

/** How a repo fared in the window that ends now. Cost: what happened in it in that time, each kind by repo and time. */
export async function repoFlow(fleet: Db, query: Query): Promise<RepoFlow> {
  const found = await flow.first(fleet, query);
  if (!found) throw new Error('an aggregate gave no row');
  return found;
}
