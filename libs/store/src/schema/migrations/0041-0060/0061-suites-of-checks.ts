import { type Kysely, sql } from 'kysely';

/** Check runs of one name in two suites of a commit are two checks; 0 = no suite, or one that is not known. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.commit_checks add column suite_id bigint not null default 0`.execute(db);
  await sql`alter table pipeline.commit_checks drop constraint commit_checks_pkey`.execute(db);
  await sql`
    alter table pipeline.commit_checks
      add constraint commit_checks_pkey primary key (tenant_id, repo_id, sha, kind, name, suite_id)`.execute(db);
}
