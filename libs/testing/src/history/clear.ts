import type { Db } from '@pipeline/store';
import { sql } from 'kysely';

/** Empties every table that belongs to tenants, so that another history can be told in the same database. */
export async function clearHistory(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select c.oid::regclass::text as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'pipeline' and c.relkind in ('r', 'p') and not c.relispartition
      and (c.relname = 'tenants' or exists (
        select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped))`.execute(
    db,
  );
  await sql`truncate ${sql.join(rows.map(({ name }) => sql.raw(name)))} cascade`.execute(db);
}
