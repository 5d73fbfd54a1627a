import { type Db, inTransaction } from '@pipeline/store';
import { sql } from 'kysely';
import { allTables, tenantTables } from './tables.ts';
import { withoutChecks } from './without-checks.ts';

/** Empties every table that belongs to tenants, so that another history can be simulated in the same database. */
export async function clearHistory(db: Db): Promise<void> {
  await empty(db, [...(await tenantTables(db)), 'closed_facts']);
}

/** Tables that keep their rows: those of a migrated database, and the epochs of leaders and the numbers of events, which only grow. */
const KEPT: ReadonlySet<string> = new Set([
  'leaders',
  'model_prices',
  'schema_migrations',
  'schema_migrations_lock',
  'stream_counter',
]);

/** Empties every table that services write to. */
export async function clearTables(db: Db): Promise<void> {
  await empty(
    db,
    (await allTables(db)).filter((name) => !KEPT.has(name)),
  );
}

/** Row by row: most tables are empty, and a truncation would make the files of all of them and of their indexes again. */
async function empty(db: Db, tables: readonly string[]): Promise<void> {
  await inTransaction(db, async (tx) => {
    await withoutChecks(tx);
    await sql.raw(tables.map((table) => `delete from ${table}`).join(';')).execute(tx);
  });
}
