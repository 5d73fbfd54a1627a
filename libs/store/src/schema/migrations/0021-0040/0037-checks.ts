import { type Kysely, sql } from 'kysely';

/**
 * Checks of head commits, what a repo demands of them before a merge, and what a pull request waits for. Repos that
 * exist already demand what new ones do: a head without any check is not merged until the repo has `none` or an
 * operator allows it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table pipeline.repos
      add column checks_policy text not null default 'required'
        constraint repos_checks_policy_known check (checks_policy in ('required', 'all', 'none')),
      add column merge_method text not null default 'squash'
        constraint repos_merge_method_known check (merge_method in ('squash', 'merge', 'rebase'))`.execute(db);
  await sql`
    alter table pipeline.pull_requests
      add column checks_wait jsonb,
      add column checks_wait_since timestamptz,
      add column unchecked_sha text`.execute(db);
  await sql`
    create table pipeline.commit_checks (
      tenant_id bigint not null,
      repo_id bigint not null,
      sha text not null,
      kind text not null check (kind in ('check-run', 'status')),
      name text not null,
      state text not null check (state in ('pending', 'success', 'failure')),
      conclusion text,
      url text,
      host_id bigint not null,
      log_tail text,
      reported_at timestamptz not null,
      primary key (tenant_id, repo_id, sha, kind, name),
      foreign key (tenant_id, repo_id) references pipeline.repos
    )`.execute(db);
  // A report of a check names its commit alone.
  await sql`
    create index pull_requests_by_head on pipeline.pull_requests (tenant_id, repo_id, head_sha)
      where state = 'open'`.execute(db);
}
