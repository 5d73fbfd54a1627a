import { type Kysely, sql } from 'kysely';

const MONTHS_AHEAD = 3;

/** Creates the default partition of a table, and those of this month and the next ones; the monitor creates later ones. */
export async function createPartitions(db: Kysely<unknown>, table: string): Promise<void> {
  const rest = `${table}_default`;
  await sql`create table pipeline.${sql.ref(rest)} partition of pipeline.${sql.ref(table)} default`.execute(db);
  await sql`select pipeline.name_partition_indexes(${table}, ${rest})`.execute(db);
  const now = new Date();
  for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead += 1) {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead)).toISOString().slice(0, 7);
    await sql`select pipeline.create_month_partition(${table}, ${month})`.execute(db);
  }
}
