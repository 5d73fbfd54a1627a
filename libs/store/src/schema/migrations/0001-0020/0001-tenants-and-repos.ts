import { type Kysely, sql } from 'kysely';

/**
 * Ownership: tenants and users (reference tables on a distributed store), memberships, repos and their workflow.
 * Nothing has a trigger, an identity column or a key without its tenant, so that the schema can be distributed as it
 * is.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create schema if not exists pipeline`.execute(db);
  await sql`
    create function pipeline.svc_now() returns timestamptz language sql stable
    return coalesce(nullif(current_setting('svc.now', true), '')::timestamptz, now())`.execute(db);
  for (const name of ['tenant_id', 'user_id', 'repo_id']) {
    await sql`create sequence pipeline.${sql.ref(`${name}_seq`)}`.execute(db);
  }
  await sql`
    create table pipeline.tenants (
      id bigint primary key default nextval('pipeline.tenant_id_seq'),
      external_id text not null unique,
      name text not null,
      created_at timestamptz not null default pipeline.svc_now()
    )`.execute(db);
  await sql`
    create table pipeline.users (
      id bigint primary key default nextval('pipeline.user_id_seq'),
      email text not null,
      email_key text not null unique,
      name text not null,
      password_hash text,
      disabled_at timestamptz,
      created_at timestamptz not null default pipeline.svc_now()
    )`.execute(db);
  await sql`
    create table pipeline.memberships (
      tenant_id bigint not null references pipeline.tenants,
      user_id bigint not null references pipeline.users,
      role text not null,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, user_id)
    )`.execute(db);
  await sql`
    create table pipeline.repos (
      tenant_id bigint not null references pipeline.tenants,
      id bigint not null default nextval('pipeline.repo_id_seq'),
      owner text not null,
      name text not null,
      slug_key text not null,
      vcs_host text not null,
      clone_url text not null,
      default_branch text not null default 'main',
      setup_command text,
      pool_size integer,
      installation_id bigint,
      enabled boolean not null default false,
      created_at timestamptz not null default pipeline.svc_now(),
      updated_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      unique (tenant_id, slug_key)
    )`.execute(db);
  // Webhooks and surface B identify a repo by its slug alone; several tenants may have the same one.
  await sql`create index repos_by_slug on pipeline.repos (slug_key)`.execute(db);
  await sql`
    create table pipeline.repo_sync (
      tenant_id bigint not null,
      repo_id bigint not null,
      etag text,
      cursor timestamptz,
      polled_at timestamptz,
      error text,
      primary key (tenant_id, repo_id),
      foreign key (tenant_id, repo_id) references pipeline.repos on delete cascade
    )`.execute(db);
  await sql`
    create table pipeline.workflow_snapshots (
      tenant_id bigint not null,
      repo_id bigint not null,
      version integer not null,
      active boolean not null default false,
      body jsonb not null,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, repo_id, version),
      foreign key (tenant_id, repo_id) references pipeline.repos on delete cascade
    )`.execute(db);
  await sql`
    create unique index workflow_snapshots_one_active on pipeline.workflow_snapshots (tenant_id, repo_id)
    where active`.execute(db);
  await sql`
    create table pipeline.settings (
      id integer primary key default 1,
      version integer not null,
      body jsonb not null,
      updated_at timestamptz not null default pipeline.svc_now(),
      constraint settings_one_row check (id = 1)
    )`.execute(db);
}
