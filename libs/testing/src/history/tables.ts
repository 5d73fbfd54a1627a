import type { Db } from '@pipeline/store';
import { type RawBuilder, sql } from 'kysely';

/** Every table that belongs to tenants, and that of the tenants; partitions go with theirs. */
export const tenantTables = (db: Db): Promise<string[]> =>
  tablesWhere(
    db,
    sql<boolean>`c.relname = 'tenants' or exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)`,
  );

/** Every table of the schema; partitions go with theirs. */
export const allTables = (db: Db): Promise<string[]> => tablesWhere(db, sql<boolean>`true`);

async function tablesWhere(db: Db, condition: RawBuilder<boolean>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'pipeline' and c.relkind in ('r', 'p') and not c.relispartition and (${condition})`.execute(db);
  return rows.map(({ name }) => name);
}
