import { type Kysely, sql } from 'kysely';

/**
 * The id of a repository on its host, which stays when it is renamed or transferred; null = not read yet. Former slugs
 * are those that it had since it was added.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table pipeline.repos
      add column host_id bigint,
      add column former_slug_keys text[] not null default '{}',
      add column unavailable text
        constraint repos_unavailable_known check (unavailable in ('archived', 'missing', 'replaced', 'duplicate')),
      add column unavailable_since timestamptz`.execute(db);
  await sql`create index repos_by_host_id on pipeline.repos (host_id) where host_id is not null`.execute(db);
  await sql`create index repos_unavailable on pipeline.repos (tenant_id) where unavailable is not null`.execute(db);
}
