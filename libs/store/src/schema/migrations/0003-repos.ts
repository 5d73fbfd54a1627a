import { type Kysely, sql } from 'kysely';

/** Repositories, who reaches them, and what their scans found. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create sequence pipeline.repo_id_seq`.execute(db);
  await sql`
    create table pipeline.repos (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.repo_id_seq') not null,
      owner text not null,
      name text not null,
      slug_key text not null,
      vcs_host text not null,
      clone_url text not null,
      default_branch text default 'main' not null,
      setup_command text,
      pool_size integer,
      installation_id bigint,
      enabled boolean default false not null,
      created_at timestamptz default pipeline.svc_now() not null,
      updated_at timestamptz default pipeline.svc_now() not null,
      push_restricted boolean,
      push_checked_at timestamptz,
      removed_at timestamptz,
      checks_policy text default 'required' not null,
      merge_method text default 'squash' not null,
      merge_train text default 'off' not null,
      train_pr integer,
      train_head text,
      train_since timestamptz,
      compare jsonb,
      host_id bigint,
      former_slug_keys text[] default '{}'::text[] not null,
      unavailable text,
      unavailable_since timestamptz,
      max_rounds integer default 3 not null,
      constraint repos_checks_policy_known check (checks_policy in ('required', 'all', 'none')),
      constraint repos_max_rounds_range check ((max_rounds >= 1) and (max_rounds <= 100)),
      constraint repos_merge_method_known check (merge_method in ('squash', 'merge', 'rebase')),
      constraint repos_merge_train_known check (merge_train in ('off', 'serial')),
      constraint repos_removed_is_disabled check ((removed_at is null) or (not enabled)),
      constraint repos_unavailable_known check (unavailable in ('archived', 'missing', 'replaced', 'duplicate')),
      primary key (tenant_id, id),
      constraint repos_tenant_id_slug_key_key unique (tenant_id, slug_key),
      foreign key (tenant_id) references pipeline.tenants(id)
    )`.execute(db);
  await sql`
    create index repos_by_host_id on pipeline.repos (host_id) where (host_id is not null)`.execute(db);
  await sql`
    create index repos_by_slug on pipeline.repos (slug_key)`.execute(db);
  await sql`
    create index repos_limited on pipeline.repos (tenant_id) where (pool_size is not null)`.execute(db);
  await sql`
    create index repos_unavailable on pipeline.repos (tenant_id) where (unavailable is not null)`.execute(db);
  await sql`
    create table pipeline.repo_sync (
      tenant_id bigint not null,
      repo_id bigint not null,
      etag text,
      cursor timestamptz,
      polled_at timestamptz,
      error text,
      primary key (tenant_id, repo_id),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id) on delete cascade
    )`.execute(db);
  await sql`
    create table pipeline.repo_grants (
      tenant_id bigint not null,
      user_id bigint not null,
      repo_id bigint not null,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, user_id, repo_id),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id) on delete cascade,
      foreign key (tenant_id, user_id) references pipeline.memberships(tenant_id, user_id) on delete cascade
    )`.execute(db);
  await sql`
    create table pipeline.repo_files (
      tenant_id bigint not null,
      repo_id bigint not null,
      path text not null,
      language text,
      size bigint,
      sha text,
      summary text,
      symbols jsonb not null,
      updated_at timestamptz default pipeline.svc_now() not null,
      search tsvector generated always as ((setweight(to_tsvector('english'::regconfig, regexp_replace(regexp_replace(path, '([a-z0-9])([A-Z])', '\\1 \\2', 'g'), '[^[:alnum:]]+', ' ', 'g')), 'A'::"char") || setweight(to_tsvector('english'::regconfig, (((regexp_replace(regexp_replace("left"((jsonb_path_query_array(symbols, '$[*]."name"'::jsonpath))::text, 50000), '([a-z0-9])([A-Z])', '\\1 \\2', 'g'), '[^[:alnum:]]+', ' ', 'g') || ' ') || translate("left"((jsonb_path_query_array(symbols, '$[*]."name"'::jsonpath))::text, 50000), '[]",', '    ')) || coalesce(summary, ''))), 'B'::"char"))) stored not null,
      primary key (tenant_id, repo_id, path),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id) on delete cascade
    )`.execute(db);
  await sql`
    create index repo_files_search on pipeline.repo_files using gin (repo_id, search) with (gin_pending_list_limit='512')`.execute(
    db,
  );
  await sql`
    create table pipeline.repo_scans (
      tenant_id bigint not null,
      repo_id bigint not null,
      due_at timestamptz not null,
      scanned_at timestamptz,
      head_sha text,
      truncated boolean default false not null,
      file_count integer default 0 not null,
      symbol_count integer default 0 not null,
      updated_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, repo_id),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id) on delete cascade
    )`.execute(db);
}
