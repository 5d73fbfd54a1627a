import { AGENT_OF, LIST_CAPS, MAX_INDEXED_OCTETS } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../driver/database.ts';
import { wireTime } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { WORK_TYPES } from '../queue/work-types.ts';

const caps = {
  title: sql.lit(LIST_CAPS.title),
  status: sql.lit(LIST_CAPS.status),
  label: sql.lit(LIST_CAPS.label),
  labels: sql.lit(LIST_CAPS.labels),
  dependsOn: sql.lit(LIST_CAPS.dependsOn),
};
const shortened = (column: string, max: RawBuilder<unknown>) =>
  sql`case when char_length(${sql.ref(column)}) > ${max} then left(${sql.ref(column)}, ${max} - 1) || '…' else ${sql.ref(column)} end`;

type Tenant = RawBuilder<number>;

/** Edges of `i` to issues of its own repo, which a plain number can identify. */
const ownEdges = (kind: 'subtask' | 'depends_on', tenant: Tenant) => sql`
  select e.parent_issue_number from issue_edges e
  where e.tenant_id = ${tenant} and e.kind = ${sql.lit(kind)} and e.child_repo_id = i.repo_id
    and e.child_issue_number = i.issue_number and e.parent_repo_id = i.repo_id
  order by e.id`;

/**
 * The list item of each issue `i` as JSON text: a lateral `item (body)` to join to `issues i`. Five index probes per
 * issue. Unbounded texts of people and agents are truncated.
 */
const listItemOfI = (tenant: Tenant): RawBuilder<unknown> => sql`
  left join tasks t on t.tenant_id = ${tenant} and t.issue_id = i.id and t.task_type in (${WORK_TYPES})
  cross join lateral (select row_to_json(f)::text as body from (select
    i.issue_number as "issueNumber",
    ${shortened('i.title', caps.title)} as "title",
    i.url as "url",
    i.state as "state",
    i.is_blocked as "isBlocked",
    i.is_paused as "isPaused",
    i.block_reason as "blockReason",
    i.block_classification as "blockClassification",
    ${wireTime('i.state_entered_at')} as "stateEnteredAt",
    ${shortened('i.current_status', caps.status)} as "currentStatus",
    t.task_type as "activeTaskType",
    case when t.status = 'claimed' then ${sql.lit(JSON.stringify(AGENT_OF))}::jsonb ->> t.task_type end as "assignedAgent",
    (select p.number from pull_requests p where p.tenant_id = ${tenant} and p.issue_id = i.id
      and (p.agent_authored or p.merged) order by p.state = 'open' desc, p.number desc limit 1) as "prNumber",
    array(select left(label, ${caps.label}) from unnest(i.labels[1:${caps.labels}]) as label) as "labels",
    (${ownEdges('subtask', tenant)} limit 1) as "parentIssueNumber",
    array(${ownEdges('depends_on', tenant)} limit ${caps.dependsOn}) as "dependsOn",
    trim_scale(round(i.cost_usd, 4)) as "costUsd",
    ${wireTime('i.host_created_at')} as "createdAt",
    ${wireTime('i.updated_at')} as "updatedAt"
  ) f) item`;

/** A change of status or cost within this time after the last write waits for the next change of the issue. */
const LATER = sql`interval '5 s'`;

const octets = sql.lit(MAX_INDEXED_OCTETS);

type Refreshing = { tenantId: number; issueIds: number[]; issueId: number; passing: boolean };

/**
 * The issue selection is part of the text, so that the plan for one issue, nearly every call, is made once and kept.
 */
const refreshing = (p: Params<Refreshing>, those: RawBuilder<unknown>) => sql`
    with shown as (
      select i.repo_id, i.issue_number, i.state, i.is_paused, i.is_blocked, i.state_entered_at, item.body,
        l.state as old_state, l.is_paused as old_paused, l.is_blocked as old_blocked
      from issues i
      left join issue_list l
        on l.tenant_id = ${p('tenantId')} and l.repo_id = i.repo_id and l.issue_number = i.issue_number
      ${listItemOfI(p('tenantId'))}
      where i.tenant_id = ${p('tenantId')} and i.id ${those}
        and not (${p('passing')}::boolean and coalesce(l.written_at > svc_now() - ${LATER}, false))
    ), written as (
      insert into issue_list (tenant_id, repo_id, issue_number, state, is_paused, is_blocked, state_entered_at, body,
        big_body, written_at)
      select ${p('tenantId')}, repo_id, issue_number, state, is_paused, is_blocked, state_entered_at,
        case when octet_length(body) <= ${octets} then body end,
        case when octet_length(body) > ${octets} then body end, svc_now()
      from shown order by repo_id, issue_number
      on conflict (tenant_id, repo_id, issue_number) do update set
        state = excluded.state, is_paused = excluded.is_paused, is_blocked = excluded.is_blocked,
        state_entered_at = excluded.state_entered_at, body = excluded.body, big_body = excluded.big_body,
        written_at = excluded.written_at
      where issue_list.body is distinct from excluded.body or issue_list.big_body is distinct from excluded.big_body
      returning repo_id, issue_number
    )
    insert into issue_count_deltas (tenant_id, repo_id, state, is_paused, is_blocked, n)
    select ${p('tenantId')}, s.repo_id, delta.state, delta.is_paused, delta.is_blocked, delta.n
    from shown s
    join written w on w.repo_id = s.repo_id and w.issue_number = s.issue_number
    cross join lateral (select
      (s.state, s.is_paused, s.is_blocked) is distinct from (s.old_state, s.old_paused, s.old_blocked) as moved) m
    cross join lateral (
      select s.state, s.is_paused, s.is_blocked, case when m.moved then 1 else 0 end as n
      union all
      select s.old_state, s.old_paused, s.old_blocked, -1 where m.moved and s.old_state is not null
    ) delta`;

const refreshOne = prepared('refresh-issue-list-one', (_db, p: Params<Omit<Refreshing, 'issueIds'>>) =>
  refreshing(p as Params<Refreshing>, sql`= ${p('issueId')}`),
);
const refreshMany = prepared('refresh-issue-list', (_db, p: Params<Omit<Refreshing, 'issueId'>>) => {
  const those = sql`in (select unnest((select ${p('issueIds')}::bigint[])))`;
  return refreshing(p as Params<Refreshing>, those);
});

/**
 * Rewrites list rows and counts of these issues: one statement, which writes nothing if nothing changed. The caller has
 * locked the issues by an earlier statement, so this one sees the current rows.
 * @param passing only statuses and costs changed: written at most every five seconds per issue.
 */
export async function refreshIssueList(
  tx: Tx,
  tenantId: number,
  issueIds: readonly number[],
  passing: boolean,
): Promise<void> {
  const [issueId, ...others] = issueIds;
  if (issueId === undefined) return;
  if (others.length === 0) await refreshOne.run(tx, { tenantId, issueId, passing });
  else await refreshMany.run(tx, { tenantId, issueIds: [...issueIds], passing });
}

/** Errors in list rows and counts; all zero = they agree with the issues. */
interface IssueListCheck {
  /** Issues without a list row. */
  missing: number;
  /** List rows without an issue. */
  surplus: number;
  /** Items that differ from the issue, except for statuses and costs, which may lag. */
  stale: number;
  /** Wrong counters. */
  miscounted: number;
}

const PASSING = sql.lit('{currentStatus,costUsd,updatedAt}');

const check = prepared(
  'check-issue-list',
  (_db, p: Params<{ tenantId: number }>) => sql<IssueListCheck>`
    with shown as (
      select i.repo_id, i.issue_number, i.state, i.is_paused, i.is_blocked, i.state_entered_at, item.body
      from issues i ${listItemOfI(p('tenantId'))} where i.tenant_id = ${p('tenantId')}
    ), stored as (
      select repo_id, issue_number, state, is_paused, is_blocked, state_entered_at, coalesce(body, big_body) as body
      from issue_list where tenant_id = ${p('tenantId')}
    ), pairs as (
      select s.issue_number as real, l.issue_number as listed,
        (s.state, s.is_paused, s.is_blocked, s.state_entered_at, s.body::jsonb - ${PASSING}::text[])
          is distinct from (l.state, l.is_paused, l.is_blocked, l.state_entered_at, l.body::jsonb - ${PASSING}::text[]) as differs
      from shown s full join stored l on l.repo_id = s.repo_id and l.issue_number = s.issue_number
    ), counted as (
      select repo_id, state, is_paused, is_blocked, sum(n) as n from (
        select repo_id, state, is_paused, is_blocked, n from issue_counts where tenant_id = ${p('tenantId')}
        union all select repo_id, state, is_paused, is_blocked, n from issue_count_deltas where tenant_id = ${p('tenantId')}
        union all select repo_id, state, is_paused, is_blocked, -1 from issues where tenant_id = ${p('tenantId')}
      ) c group by repo_id, state, is_paused, is_blocked
    )
    select count(*) filter (where listed is null) as missing, count(*) filter (where real is null) as surplus,
      count(*) filter (where listed is not null and real is not null and differs) as stale,
      (select count(*) from counted where n <> 0) as miscounted
    from pairs`,
);

/** Recomputes every item and count of a tenant and compares. Costs the tenant's issues, five probes each. */
export async function checkIssueList(db: Db, tenantId: number): Promise<IssueListCheck> {
  return (await check.first(db, { tenantId })) ?? { missing: 0, surplus: 0, stale: 0, miscounted: 0 };
}
