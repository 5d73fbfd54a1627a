import { type Kysely, sql } from 'kysely';

/** The last configuration reload of each process. A handful of rows, of the deployment and not of a tenant. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.config_reloads (
      agent_name text not null,
      instance text not null,
      status text not null,
      applied_keys text[] not null,
      deferred_keys text[] not null,
      error text,
      error_code text,
      trigger text not null,
      at timestamptz not null,
      primary key (agent_name, instance)
    )`.execute(db);
}
