import { type Kysely, sql } from 'kysely';

/**
 * Removes costs per task, run and transition. Repos and issues are never deleted, and every writer of such a row has
 * read or locked them in the same transaction: the server's check costs a queue two fifths of its enqueue, and locks
 * the row of a repo that many write to. No statement reads the runs of a task, and claimed tasks, one row per busy
 * worker, are found by tasks_of_worker; without the leases in an index a heartbeat changes no index at all.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table pipeline.tasks
      drop constraint tasks_tenant_id_repo_id_fkey,
      drop constraint tasks_tenant_id_issue_id_fkey`.execute(db);
  await sql`alter table pipeline.transitions drop constraint transitions_tenant_id_issue_id_fkey`.execute(db);
  await sql`alter table pipeline.projections drop constraint projections_tenant_id_repo_id_fkey`.execute(db);
  await sql`drop index pipeline.runs_of_task, pipeline.tasks_leases`.execute(db);
}
