import { type Kysely, sql } from 'kysely';

/** The position of the export of runs as traces. Its order is the end of the runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index runs_by_end on pipeline.runs (finished_at, tenant_id, id) where finished_at is not null`.execute(db);
  await sql`
    create table pipeline.trace_cursor (
      id smallint primary key default 1 check (id = 1),
      finished_at timestamptz not null,
      run_tenant_id bigint not null,
      run_id bigint not null
    )`.execute(db);
}
