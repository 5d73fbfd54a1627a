/**
 * The reads of goals 1, 2 and 4 as an expert writes them by hand: the rights of a token in one statement, the data in
 * another. $1 of the data is the tenant, $2 the repo in lower case. fastify sends them by name; pgbench sends them alone.
 */
export const RIGHTS = `
  select c.tenant_id, c.user_id, c.scope, u.email, m.role, (
    select array_agg(g.repo_id) from repo_grants g where g.tenant_id = c.tenant_id and g.user_id = c.user_id) as granted
  from oauth_tokens t
  join oauth_connections c on c.id = t.connection_id
  join users u on u.id = c.user_id
  join memberships m on m.tenant_id = c.tenant_id and m.user_id = c.user_id
  where t.hash = $1::bytea and t.kind = 'AccessToken' and t.expires_at > now() and c.expires_at > now()
    and c.revoked_at is null and u.disabled_at is null`;

export const BOOTSTRAP = `
  select now(), (select row_to_json(q) from (
      select id, external_id as slug, name, created_at as "createdAt" from tenants where id = $1::bigint) q) as org,
    (select json_agg(q) from (
      select id, owner || '/' || name as slug, owner, name, default_branch as "defaultBranch", vcs_host as "vcsHost", enabled,
        slug_key = $2::text as asked
      from repos where tenant_id = $1::bigint and enabled order by slug_key) q) as repos`;

const REPO = 'select id from repos where tenant_id = $1::bigint and slug_key = $2::text and enabled';

/** The index that a page of issues in order of entry needs; ours keeps the order with the stored items. */
export const PAGE_INDEX = `
  create index if not exists issues_in_order on issues (tenant_id, repo_id, state_entered_at, issue_number) where state <> 'done'`;

/**
 * A page of issues with what the list shows of each, as rows of the tables. $3 is a subquery: with a plain limit the
 * server would plan the statement for each call.
 */
export const ISSUES = `
  with repo as (${REPO})
  select i.issue_number, i.title, i.url, i.state, i.is_blocked, i.is_paused, i.block_reason, i.block_classification,
    i.state_entered_at, i.current_status, i.labels, i.cost_usd, i.host_created_at, i.updated_at, t.task_type,
    t.status as task_status, counted.total,
    (select p.number from pull_requests p where p.tenant_id = $1::bigint and p.issue_id = i.id
      and (p.agent_authored or p.merged) order by p.state = 'open' desc, p.number desc limit 1) as pr_number,
    (select parent_issue_number from issue_edges where tenant_id = $1::bigint and kind = 'subtask'
      and child_repo_id = i.repo_id and child_issue_number = i.issue_number and parent_repo_id = i.repo_id
      order by id limit 1) as parent,
    array(select parent_issue_number from issue_edges where tenant_id = $1::bigint and kind = 'depends_on'
      and child_repo_id = i.repo_id and child_issue_number = i.issue_number and parent_repo_id = i.repo_id
      order by id limit 20) as depends_on
  from (select * from issues where tenant_id = $1::bigint and repo_id = (select id from repo) and state <> 'done'
    order by state_entered_at, issue_number limit (select $3::bigint)) i
  left join tasks t on t.tenant_id = $1::bigint and t.issue_id = i.id and t.task_type <> 'retrospect'
  cross join (select sum(n) as total from issue_counts
    where tenant_id = $1::bigint and repo_id = (select id from repo) and state <> 'done') counted
  order by i.state_entered_at, i.issue_number`;

/** The same page from the items that our lists store. */
export const STORED_ISSUES = `
  with repo as (${REPO})
  select (select string_agg(body, ',') from (
      select body from issue_list where tenant_id = $1::bigint and repo_id = repo.id and state <> 'done'
      order by state_entered_at, issue_number limit (select $3::bigint)) page) as items,
    (select sum(n) from issue_counts
      where tenant_id = $1::bigint and repo_id = repo.id and state <> 'done') as total
  from repo`;

const listOf = (query: string, name: string) =>
  `(select coalesce(json_agg(q), '[]') from (${query} limit 50) q) as ${name}`;
const OF_ISSUE = 'tenant_id = $1::bigint and issue_id = i.id';

/** $3 is the number of the issue. */
export const WHY = `
  with repo as (${REPO})
  select i.issue_number, i.title, i.state, i.state_entered_at, i.is_blocked, i.is_paused, i.block_reason, i.question,
    ${listOf(`select id, task_type, status, held, run_after, attempt from tasks where ${OF_ISSUE}`, 'tasks')},
    ${listOf(`select * from transitions where ${OF_ISSUE} order by id desc`, 'transitions')},
    ${listOf(
      `select id, status, error from projections where tenant_id = $1::bigint and repo_id = i.repo_id
        and issue_number = i.issue_number and status in ('pending', 'failed')`,
      'projections',
    )},
    ${listOf(`select id, error from dead_letters where ${OF_ISSUE} and resolved_at is null`, 'dead_letters')},
    ${listOf(
      `select id, title from findings where ${OF_ISSUE} and blocks_progress and status in ('open', 'accepted')`,
      'blockers',
    )},
    ${listOf(
      `select * from issue_edges where tenant_id = $1::bigint and kind = 'depends_on' and active
        and child_repo_id = i.repo_id and child_issue_number = i.issue_number`,
      'waits_for',
    )},
    ${listOf(
      `select * from issue_edges where tenant_id = $1::bigint and kind = 'subtask' and active
        and parent_repo_id = i.repo_id and parent_issue_number = i.issue_number`,
      'subtasks',
    )},
    ${listOf(
      `select id, error_message from runs where ${OF_ISSUE} and error_message is not null order by id desc`,
      'failed',
    )},
    ${listOf(`select number from pull_requests where ${OF_ISSUE} and state = 'open' and agent_authored`, 'pr')}
  from repo join issues i on i.tenant_id = $1::bigint and i.repo_id = repo.id and i.issue_number = $3::int`;
