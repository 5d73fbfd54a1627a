import { type Kysely, sql } from 'kysely';

/** Invitations to an organisation by link. Only the hash of the token is stored; an invitation is used once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.invitations (
      tenant_id bigint not null references pipeline.tenants,
      id text not null,
      token_hash text not null,
      email text not null,
      role text not null check (role in ('owner', 'admin', 'member')),
      invited_by text not null,
      created_at timestamptz not null default pipeline.svc_now(),
      expires_at timestamptz not null,
      accepted_at timestamptz,
      accepted_by bigint,
      revoked_at timestamptz,
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`create index invitations_by_token on pipeline.invitations (token_hash)`.execute(db);
}
