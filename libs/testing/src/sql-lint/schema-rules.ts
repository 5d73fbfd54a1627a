import { PLACEMENT, type Placement } from '@pipeline/store';
import type pg from 'pg';

/** t = our tables without partitions; own = its columns by name; led = whether a key's first column is tenant_id. */
const CHECKS = `
  with placed as (select key as name, value as placement from jsonb_each_text($1)),
  t as (
    select c.oid, c.relname as name, coalesce(p.placement, 'distributed') as placement
    from pg_class c left join placed p on p.name = c.relname
    where c.relnamespace = 'pipeline'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  ),
  tenant_column as (select attrelid as oid, attnum from pg_attribute where attname = 'tenant_id' and attnotnull),
  fk as (
    select k.*, t.name, t.placement, target.name as to_name, target.placement as to_placement,
      exists (select from tenant_column a where a.oid = k.conrelid and a.attnum = k.conkey[1])
        and exists (select from tenant_column b where b.oid = k.confrelid and b.attnum = k.confkey[1]) as led
    from pg_constraint k join t on t.oid = k.conrelid join t target on target.oid = k.confrelid
    where k.contype = 'f'
  )
  select format('%s: is named in placement.ts, but there is no such table', placed.name) as finding
  from placed where not exists (select from t where t.name = placed.name)
  union all select format('%s: has no primary key', t.name)
  from t where not exists (select from pg_constraint k where k.conrelid = t.oid and k.contype = 'p')
  union all select format('%s: has no tenant_id and is not named in placement.ts', t.name)
  from t where placement = 'distributed' and not exists (select from tenant_column a where a.oid = t.oid)
  union all select format('%s: unique index %s does not begin with tenant_id', t.name, i.indexrelid::regclass)
  from t join pg_index i on i.indrelid = t.oid and i.indisunique
  where placement = 'distributed'
    and not exists (select from tenant_column a where a.oid = t.oid and a.attnum = i.indkey[0])
  union all select format('%s: foreign key %s does not pair tenant_id with tenant_id first', name, conname)
  from fk where placement = 'distributed' and to_placement = 'distributed' and not led
  union all select format('%s: foreign key %s leads from a %s to a %s table', name, conname, placement, to_placement)
  from fk where to_placement = 'local' and placement <> 'local' or placement = 'reference' and to_placement <> 'reference'
    or placement = 'local' and to_placement = 'distributed'
  union all select format('%s: foreign key %s sets columns to null or their default', name, conname)
  from fk where confdeltype in ('n', 'd') or confupdtype in ('n', 'd')
  union all select format('%s: has trigger %s', t.name, g.tgname)
  from t join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal
  union all select format('%s: %s is an identity column', t.name, a.attname)
  from t join pg_attribute a on a.attrelid = t.oid and a.attidentity <> ''
  union all select format('function %s(): the planner inlines it: write it in PL/pgSQL, or give it a SET clause', proname)
  from pg_proc p join pg_language l on l.oid = p.prolang
  where p.pronamespace = 'pipeline'::regnamespace and l.lanname = 'sql' and p.provolatile <> 'i' and p.proconfig is null
  union all select format('index %s of a partition has a name of %s characters, too long for the number of a shard',
    c.relname, length(c.relname))
  from pg_class c join pg_inherits h on h.inhrelid = c.oid
  where c.relnamespace = 'pipeline'::regnamespace and c.relkind in ('i', 'I') and length(c.relname) > 54
  order by 1`;

/**
 * Checks the schema against the rules of a distributed store.
 * @returns one line per breach, sorted; none = it can be distributed as it is.
 */
export async function lintSchema(
  client: pg.ClientBase,
  placement: Readonly<Record<string, Placement>> = PLACEMENT,
): Promise<string[]> {
  const { rows } = await client.query<{ finding: string }>(CHECKS, [JSON.stringify(placement)]);
  return rows.map((row) => row.finding);
}
