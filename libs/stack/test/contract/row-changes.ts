/** A record of every row that any process inserts, updates or deletes, also of those that are restored afterwards. */
import type { TestDatabase } from '@pipeline/testing';
import { sql } from 'kysely';

/** One change of one row. */
export interface RowChange {
  table: string;
  operation: 'INSERT' | 'UPDATE' | 'DELETE' | 'TRUNCATE';
  /** Name of the connection that made it. */
  application: string;
  /** The row after the change; for a deletion the one before. */
  row: Record<string, unknown>;
  /** Columns whose value an update changed; empty for an update that wrote the values again. */
  columns: string[];
}

const SCHEMA = 'recorded';

/** Records all changes from now on. Triggers do: no process can change a row past them. */
export async function recordRowChanges({ db }: Pick<TestDatabase, 'db'>): Promise<void> {
  await sql
    .raw(`
    create schema ${SCHEMA};
    create unlogged table ${SCHEMA}.change (
      id bigint generated always as identity primary key, "table" text, operation text, application text,
      before jsonb, after jsonb);
    create function ${SCHEMA}.record() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
    begin
      insert into ${SCHEMA}.change ("table", operation, application, before, after) values (
        coalesce(pg_partition_root(tg_relid), tg_relid)::regclass::text, tg_op, current_setting('application_name'),
        case when tg_op in ('UPDATE', 'DELETE') then to_jsonb(old) end,
        case when tg_op in ('INSERT', 'UPDATE') then to_jsonb(new) end);
      return null;
    end $$;
    do $$
    declare relation regclass;
    begin
      for relation in select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'pipeline' and c.relkind in ('r', 'p') and not c.relispartition
      loop
        execute format('create trigger recorded_rows after insert or update or delete on %s
          for each row execute function ${SCHEMA}.record()', relation);
        execute format('create trigger recorded_truncation after truncate on %s
          for each statement execute function ${SCHEMA}.record()', relation);
      end loop;
    end $$`)
    .execute(db);
}

/** @returns the changes since the last call, in the order in which they were made. */
export async function recordedRowChanges({ db }: Pick<TestDatabase, 'db'>): Promise<RowChange[]> {
  const { rows } = await sql<RowChange>`
    with taken as (delete from recorded.change returning *)
    select replace("table", 'pipeline.', '') as "table", operation, application,
      coalesce(after, before, '{}') as row,
      array(select key from jsonb_each(after) a(key, value) where operation = 'UPDATE' and value is distinct from before -> key
        order by key) as columns
    from taken order by id`.execute(db);
  return rows;
}
