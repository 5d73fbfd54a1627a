import type { DB, Tx } from '@pipeline/store';
import { type Insertable, sql } from 'kysely';

const ROWS_AT_ONCE = 5_000;

/** Inserts rows that all name the same columns: one statement and one parameter for some thousands of them. */
export async function insertRows<T extends keyof DB>(
  tx: Tx,
  table: T,
  rows: readonly Insertable<DB[T]>[],
): Promise<void> {
  const columns = sql.join(Object.keys(rows[0] ?? {}).map((column) => sql.ref(column)));
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const json = JSON.stringify(rows.slice(at, at + ROWS_AT_ONCE));
    await sql`
      insert into ${sql.table(table)} (${columns})
      select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${json}::json)`.execute(tx);
  }
}
