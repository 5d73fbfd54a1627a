import { type Db, inTransaction } from '@pipeline/store';
import { sql } from 'kysely';
import { tenantTables } from './tables.ts';
import { withoutChecks } from './without-checks.ts';

/**
 * Empties every table that belongs to tenants, so that another history can be simulated in the same database. Row by row: most
 * tables are empty, and a truncation would make the files of all of them and of their indexes again.
 */
export async function clearHistory(db: Db): Promise<void> {
  const tables = await tenantTables(db);
  await inTransaction(db, async (tx) => {
    await withoutChecks(tx);
    await sql.raw(tables.map((table) => `delete from ${table}`).join(';')).execute(tx);
  });
}
