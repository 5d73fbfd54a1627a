import { type Kysely, sql } from 'kysely';

/** Rounds of an issue by edge, their limit by repo, and drafts. Issues in progress begin with no rounds. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.issues add column rounds jsonb not null default '{}'`.execute(db);
  await sql`alter table pipeline.repos add column max_rounds integer not null default 3`.execute(db);
  await sql`
    alter table pipeline.repos
      add constraint repos_max_rounds_range check (max_rounds between 1 and 100)`.execute(db);
  await sql`alter table pipeline.pull_requests add column draft boolean not null default false`.execute(db);
}
