import { type Kysely, sql } from 'kysely';

/** Organisations, users, connections of clients, and the audit. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create sequence pipeline.tenant_id_seq`.execute(db);
  await sql`
    create table pipeline.tenants (
      id bigint default nextval('pipeline.tenant_id_seq') primary key,
      external_id text not null,
      name text not null,
      created_at timestamptz default pipeline.svc_now() not null,
      constraint tenants_external_id_key unique (external_id)
    )`.execute(db);
  await sql`
    create sequence pipeline.user_id_seq`.execute(db);
  await sql`
    create table pipeline.users (
      id bigint default nextval('pipeline.user_id_seq') primary key,
      email text not null,
      email_key text not null,
      name text not null,
      password_hash text,
      disabled_at timestamptz,
      created_at timestamptz default pipeline.svc_now() not null,
      constraint users_email_key_key unique (email_key)
    )`.execute(db);
  await sql`
    create table pipeline.memberships (
      tenant_id bigint not null,
      user_id bigint not null,
      role text not null,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, user_id),
      foreign key (tenant_id) references pipeline.tenants(id),
      foreign key (user_id) references pipeline.users(id)
    )`.execute(db);
  await sql`
    create index memberships_of_user on pipeline.memberships (user_id)`.execute(db);
  await sql`
    create table pipeline.user_identities (
      issuer text not null,
      subject text not null,
      user_id bigint not null,
      name text not null,
      created_at timestamptz default pipeline.svc_now() not null,
      last_login_at timestamptz,
      constraint user_identities_issuer_check check ((length(issuer) >= 1) and (length(issuer) <= 500)),
      constraint user_identities_subject_check check ((length(subject) >= 1) and (length(subject) <= 255)),
      primary key (issuer, subject),
      foreign key (user_id) references pipeline.users(id)
    )`.execute(db);
  await sql`
    create index user_identities_of_user on pipeline.user_identities (user_id)`.execute(db);
  await sql`
    create table pipeline.user_sessions (
      hash bytea primary key,
      user_id bigint not null,
      created_at timestamptz default pipeline.svc_now() not null,
      expires_at timestamptz not null,
      foreign key (user_id) references pipeline.users(id)
    )`.execute(db);
  await sql`
    create index user_sessions_by_end on pipeline.user_sessions (expires_at)`.execute(db);
  await sql`
    create index user_sessions_of_user on pipeline.user_sessions (user_id)`.execute(db);
  await sql`
    create table pipeline.invitations (
      tenant_id bigint not null,
      id text not null,
      token_hash text not null,
      email text not null,
      role text not null,
      invited_by text not null,
      created_at timestamptz default pipeline.svc_now() not null,
      expires_at timestamptz not null,
      accepted_at timestamptz,
      accepted_by bigint,
      revoked_at timestamptz,
      constraint invitations_role_check check (role in ('owner', 'admin', 'member')),
      primary key (tenant_id, id),
      foreign key (tenant_id) references pipeline.tenants(id)
    )`.execute(db);
  await sql`
    create index invitations_by_end on pipeline.invitations (coalesce(accepted_at, revoked_at, expires_at))`.execute(
    db,
  );
  await sql`
    create index invitations_by_token on pipeline.invitations (token_hash)`.execute(db);
  await sql`
    create table pipeline.oauth_clients (
      id text primary key,
      metadata jsonb not null,
      created_ip text,
      created_at timestamptz default pipeline.svc_now() not null
    )`.execute(db);
  await sql`
    create index oauth_clients_by_age on pipeline.oauth_clients (created_at)`.execute(db);
  await sql`
    create table pipeline.oauth_connections (
      id text primary key,
      tenant_id bigint not null,
      user_id bigint not null,
      client_id text not null,
      client_name text not null,
      resource text not null,
      scope text not null,
      payload jsonb not null,
      created_at timestamptz default pipeline.svc_now() not null,
      expires_at timestamptz not null,
      last_used_at timestamptz,
      revoked_at timestamptz,
      revoked_reason text,
      foreign key (tenant_id) references pipeline.tenants(id),
      foreign key (user_id) references pipeline.users(id)
    )`.execute(db);
  await sql`
    create index oauth_connections_of_client on pipeline.oauth_connections (client_id)`.execute(db);
  await sql`
    create index oauth_connections_of_user on pipeline.oauth_connections (user_id) where (revoked_at is null)`.execute(
    db,
  );
  await sql`
    create table pipeline.oauth_tokens (
      hash bytea primary key,
      kind text not null,
      connection_id text not null,
      payload jsonb not null,
      issued_at timestamptz default pipeline.svc_now() not null,
      expires_at timestamptz not null,
      consumed_at timestamptz,
      foreign key (connection_id) references pipeline.oauth_connections(id) on delete cascade
    )`.execute(db);
  await sql`
    create index oauth_tokens_by_end on pipeline.oauth_tokens (expires_at)`.execute(db);
  await sql`
    create index oauth_tokens_of_connection on pipeline.oauth_tokens (connection_id)`.execute(db);
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
  await sql`
    create index oauth_artifacts_by_end on pipeline.oauth_artifacts (expires_at)`.execute(db);
  await sql`
    create index oauth_artifacts_by_uid on pipeline.oauth_artifacts (model, uid)`.execute(db);
  await sql`
    create sequence pipeline.audit_log_id_seq`.execute(db);
  await sql`
    create table pipeline.audit_log (
      id bigint default nextval('pipeline.audit_log_id_seq') primary key,
      at timestamptz default pipeline.svc_now() not null,
      actor_type text not null,
      actor_id text not null,
      action text not null,
      subject text not null,
      reason text,
      details jsonb not null
    )`.execute(db);
  await sql`
    create index audit_log_by_time on pipeline.audit_log (at, id)`.execute(db);
  await sql`
    create table pipeline.rate_limits (
      key text primary key,
      points integer not null,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`
    create index rate_limits_by_end on pipeline.rate_limits (expires_at)`.execute(db);
}
