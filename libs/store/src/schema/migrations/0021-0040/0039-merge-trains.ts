import { type Kysely, sql } from 'kysely';

/** Merges of a repo one after another, and the pull request that merges next. Existing repos keep merging as before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table pipeline.repos
      add column merge_train text not null default 'off'
        constraint repos_merge_train_known check (merge_train in ('off', 'serial')),
      add column train_pr integer,
      add column train_head text,
      add column train_since timestamptz`.execute(db);
}
