import type { Db } from '@pipeline/store';
import { sql } from 'kysely';

/** Every table that belongs to tenants, and that of the tenants; partitions go with theirs. */
export async function tenantTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'pipeline' and c.relkind in ('r', 'p') and not c.relispartition
      and (c.relname = 'tenants' or exists (
        select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped))`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}
