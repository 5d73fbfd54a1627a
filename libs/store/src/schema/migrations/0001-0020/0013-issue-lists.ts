import { type Kysely, sql } from 'kysely';

/**
 * Lists and counts of issues, stored beside the issues: a page is read from one covering index as text, its total from
 * a handful of counters. Both are written in the transaction of the change.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // `body` is in the index and so bounded; a longer item is in `big_body`, which is in no index.
  await sql`
    create table pipeline.issue_list (
      tenant_id bigint not null,
      repo_id bigint not null,
      issue_number integer not null,
      state text not null,
      is_paused boolean not null,
      is_blocked boolean not null,
      state_entered_at timestamptz not null,
      body text,
      big_body text,
      written_at timestamptz not null,
      primary key (tenant_id, repo_id, issue_number),
      foreign key (tenant_id, repo_id) references pipeline.repos
    ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02)`.execute(db);
  // The default list: pages are index-only scans, as long as vacuum runs.
  await sql`
    create index issue_list_open on pipeline.issue_list (tenant_id, repo_id, state_entered_at, issue_number)
    include (body) where state <> 'done'`.execute(db);
  await sql`
    create index issue_list_by_state on pipeline.issue_list
      (tenant_id, repo_id, state, state_entered_at, issue_number)`.execute(db);
  await sql`
    create index issue_list_blocked on pipeline.issue_list (tenant_id, repo_id, state_entered_at, issue_number)
    where is_blocked and state <> 'done'`.execute(db);
  await sql`
    create index issue_list_paused on pipeline.issue_list (tenant_id, repo_id, state_entered_at, issue_number)
    where is_paused and state <> 'done'`.execute(db);
  await createCounts(db);
  await fillList(db);
  await sql`
    insert into pipeline.issue_counts (tenant_id, repo_id, state, is_paused, is_blocked, n, writes)
    select tenant_id, repo_id, state, is_paused, is_blocked, count(*), count(*) from pipeline.issue_list
    group by 1, 2, 3, 4, 5`.execute(db);
  await sql`
    create index findings_of_repo on pipeline.findings (tenant_id, repo_id, created_at desc, id)`.execute(db);
  // Recent failures and costs of a repo, both read by time.
  await sql`
    create index runs_failed_of_repo on pipeline.runs (tenant_id, repo_id, finished_at desc)
    where error_message is not null`.execute(db);
  await sql`
    create index cost_events_of_repo on pipeline.cost_events (tenant_id, repo_id, created_at)
    include (amount_usd)`.execute(db);
}

/**
 * Changes only append deltas, so that writers of one repo never wait for each other; an aggregation adds them to the
 * counts. `writes` counts the aggregated deltas: plus the pending ones it is the revision of a repo's list, a sum,
 * which includes transactions that commit out of order.
 */
async function createCounts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.issue_counts (
      tenant_id bigint not null,
      repo_id bigint not null,
      state text not null,
      is_paused boolean not null,
      is_blocked boolean not null,
      n bigint not null,
      writes bigint not null,
      primary key (tenant_id, repo_id, state, is_paused, is_blocked),
      foreign key (tenant_id, repo_id) references pipeline.repos
    ) with (fillfactor = 70)`.execute(db);
  await sql`create sequence pipeline.issue_count_delta_id_seq`.execute(db);
  await sql`
    create table pipeline.issue_count_deltas (
      tenant_id bigint not null,
      repo_id bigint not null,
      id bigint not null default nextval('pipeline.issue_count_delta_id_seq'),
      state text not null,
      is_paused boolean not null,
      is_blocked boolean not null,
      n integer not null,
      primary key (tenant_id, repo_id, id)
    ) with (
      autovacuum_vacuum_scale_factor = 0,
      autovacuum_vacuum_threshold = 2000,
      autovacuum_vacuum_cost_delay = 0
    )`.execute(db);
}

/** The items as the engine wrote them at the time of this migration; from then on the engine writes them. */
const fillList = (db: Kysely<unknown>) =>
  sql`
    insert into pipeline.issue_list (tenant_id, repo_id, issue_number, state, is_paused, is_blocked, state_entered_at,
      body, big_body, written_at)
    select i.tenant_id, i.repo_id, i.issue_number, i.state, i.is_paused, i.is_blocked, i.state_entered_at,
      case when octet_length(item.body) <= 2000 then item.body end,
      case when octet_length(item.body) > 2000 then item.body end, pipeline.svc_now()
    from pipeline.issues i
    left join pipeline.tasks t on t.tenant_id = i.tenant_id and t.issue_id = i.id
      and t.task_type in ('analyze', 'plan', 'develop', 'review', 'merge')
    left join pipeline.runs run on run.tenant_id = t.tenant_id and run.id = t.run_id and t.status = 'claimed'
    cross join lateral (select row_to_json(f)::text as body from (select
      i.issue_number as "issueNumber",
      case when char_length(i.title) > 256 then left(i.title, 255) || '…' else i.title end as "title",
      i.url as "url", i.state as "state", i.is_blocked as "isBlocked", i.is_paused as "isPaused",
      i.block_reason as "blockReason", i.block_classification as "blockClassification",
      to_char(i.state_entered_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "stateEnteredAt",
      case when char_length(i.current_status) > 160 then left(i.current_status, 159) || '…'
        else i.current_status end as "currentStatus",
      t.task_type as "activeTaskType", run.agent as "assignedAgent",
      (select p.number from pipeline.pull_requests p where p.tenant_id = i.tenant_id and p.issue_id = i.id
        order by p.state = 'open' desc, p.number desc limit 1) as "prNumber",
      array(select left(l, 100) from unnest(i.labels[1:20]) l) as "labels",
      (select e.parent_issue_number from pipeline.issue_edges e
        where e.tenant_id = i.tenant_id and e.kind = 'subtask' and e.child_repo_id = i.repo_id
          and e.child_issue_number = i.issue_number and e.parent_repo_id = i.repo_id
        order by e.id limit 1) as "parentIssueNumber",
      array(select e.parent_issue_number from pipeline.issue_edges e
        where e.tenant_id = i.tenant_id and e.kind = 'depends_on' and e.child_repo_id = i.repo_id
          and e.child_issue_number = i.issue_number and e.parent_repo_id = i.repo_id
        order by e.id limit 20) as "dependsOn",
      trim_scale(round(i.cost_usd, 4)) as "costUsd",
      to_char(i.host_created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char(i.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
    ) f) item`.execute(db);
