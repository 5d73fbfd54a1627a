import type { DB, Tx } from '@pipeline/store';
import { type Insertable, type Selectable, sql } from 'kysely';

const ROWS_AT_ONCE = 5_000;

/** A row to insert as JSON: columns with a default may be left out. */
export type NewRow<T extends keyof DB> = {
  [C in keyof Insertable<DB[T]>]: C extends keyof Selectable<DB[T]> ? Selectable<DB[T]>[C] : never;
};

/** Inserts rows that all name the same columns: one statement and one parameter for some thousands of them. */
export async function insertRows<T extends keyof DB>(tx: Tx, table: T, rows: readonly NewRow<T>[]): Promise<void> {
  const columns = sql.join(Object.keys(rows[0] ?? {}).map((column) => sql.ref(column)));
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const json = JSON.stringify(rows.slice(at, at + ROWS_AT_ONCE));
    await sql`
      insert into ${sql.table(table)} (${columns})
      select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${json}::json)`.execute(tx);
  }
}
