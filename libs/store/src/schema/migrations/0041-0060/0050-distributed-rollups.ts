import { type Kysely, sql } from 'kysely';

/** The rollups have keys that begin with the tenant since they exist. */
const ROLLUPS = ['state_minutes', 'stay_hours', 'transition_counts', 'task_counts', 'cost_sums', 'event_counts'];

/**
 * Prepares deltas and rollups for distribution by tenant, and distributes them where other tables are distributed. Rows
 * are kept. Earlier releases run on this schema too: while they still aggregate, they sort the pending deltas.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.rollup_deltas drop constraint rollup_deltas_pkey`.execute(db);
  await sql`alter table pipeline.rollup_deltas add constraint rollup_deltas_pkey primary key (tenant_id, id)`.execute(
    db,
  );
  for (const table of ['rollup_deltas', ...ROLLUPS]) {
    await sql`select pipeline.distribute_table(${sql.lit(table)})`.execute(db);
  }
}
