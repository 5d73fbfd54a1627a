import { type Kysely, sql } from 'kysely';

/**
 * Connections: what programs may read on behalf of a user, and logins of people. A token has no state but its age: it
 * is valid only while its connection is, so that one UPDATE of one row ends all of them. The oauth tables are local to
 * the coordinator: a token is unique over all tenants, because it identifies its tenant.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.repo_grants (
      tenant_id bigint not null,
      user_id bigint not null,
      repo_id bigint not null,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, user_id, repo_id),
      foreign key (tenant_id, user_id) references pipeline.memberships on delete cascade,
      foreign key (tenant_id, repo_id) references pipeline.repos on delete cascade
    )`.execute(db);
  // Consent lists the organisations of one user; the primary key leads with the tenant.
  await sql`create index memberships_of_user on pipeline.memberships (user_id)`.execute(db);
  await sql`
    create table pipeline.oauth_clients (
      id text primary key,
      metadata jsonb not null,
      created_ip text,
      created_at timestamptz not null default pipeline.svc_now()
    )`.execute(db);
  await sql`create index oauth_clients_by_age on pipeline.oauth_clients (created_at)`.execute(db);
  // No key to oauth_clients: a client with a metadata document has no row there.
  await sql`
    create table pipeline.oauth_connections (
      id text primary key,
      tenant_id bigint not null references pipeline.tenants,
      user_id bigint not null references pipeline.users,
      client_id text not null,
      client_name text not null,
      resource text not null,
      scope text not null,
      payload jsonb not null,
      created_at timestamptz not null default pipeline.svc_now(),
      expires_at timestamptz not null,
      last_used_at timestamptz,
      revoked_at timestamptz,
      revoked_reason text
    )`.execute(db);
  await sql`
    create index oauth_connections_of_user on pipeline.oauth_connections (user_id)
    where revoked_at is null`.execute(db);
  await sql`create index oauth_connections_of_client on pipeline.oauth_connections (client_id)`.execute(db);
  await sql`
    create table pipeline.oauth_tokens (
      hash bytea primary key,
      kind text not null,
      connection_id text not null references pipeline.oauth_connections on delete cascade,
      payload jsonb not null,
      issued_at timestamptz not null default pipeline.svc_now(),
      expires_at timestamptz not null,
      consumed_at timestamptz
    )`.execute(db);
  await sql`create index oauth_tokens_of_connection on pipeline.oauth_tokens (connection_id)`.execute(db);
  await sql`create index oauth_tokens_by_end on pipeline.oauth_tokens (expires_at)`.execute(db);
  // State of an authorization in progress between two requests of a browser.
  await sql`
    create table pipeline.oauth_artifacts (
      model text not null,
      hash bytea not null,
      uid text,
      payload jsonb not null,
      expires_at timestamptz not null,
      consumed_at timestamptz,
      primary key (model, hash)
    )`.execute(db);
  await sql`create index oauth_artifacts_by_uid on pipeline.oauth_artifacts (model, uid)`.execute(db);
  await sql`create index oauth_artifacts_by_end on pipeline.oauth_artifacts (expires_at)`.execute(db);
  await sql`
    create table pipeline.user_sessions (
      hash bytea primary key,
      user_id bigint not null references pipeline.users,
      created_at timestamptz not null default pipeline.svc_now(),
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index user_sessions_of_user on pipeline.user_sessions (user_id)`.execute(db);
  await sql`create index user_sessions_by_end on pipeline.user_sessions (expires_at)`.execute(db);
  // Attempts counted across replicas: logins, registrations, token requests.
  await sql`
    create table pipeline.rate_limits (
      key text primary key,
      points integer not null,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index rate_limits_by_end on pipeline.rate_limits (expires_at)`.execute(db);
}
