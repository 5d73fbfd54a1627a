import { type Kysely, sql } from 'kysely';

/** Weekly reliability finds the retries that wait to be claimed without reading the queue. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index tasks_retried on pipeline.tasks (tenant_id, repo_id) where attempt > 0`.execute(db);
}
