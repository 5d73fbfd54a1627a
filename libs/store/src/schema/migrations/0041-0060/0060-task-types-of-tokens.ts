import { type Kysely, sql } from 'kysely';

/** Types of tasks that a worker token may claim; null = all, as before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.worker_tokens add column task_types text[]`.execute(db);
}
