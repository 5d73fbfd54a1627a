import { type Kysely, sql } from 'kysely';

/** Accounts at identity providers that log a user in. The key is the provider's issuer and its id of the account. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.user_identities (
      issuer text not null check (length(issuer) between 1 and 500),
      subject text not null check (length(subject) between 1 and 255),
      user_id bigint not null references pipeline.users,
      name text not null,
      created_at timestamptz not null default pipeline.svc_now(),
      last_login_at timestamptz,
      primary key (issuer, subject)
    )`.execute(db);
  await sql`create index user_identities_of_user on pipeline.user_identities (user_id)`.execute(db);
}
