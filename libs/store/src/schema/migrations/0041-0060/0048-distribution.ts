import { type Kysely, sql } from 'kysely';

/**
 * Prepares the schema for a PostgreSQL distributed by tenant (Citus). A shard's index is named after the index and the
 * shard, so indexes of partitions get short names; and a later migration places its new tables by `distribute_table`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createNameIndexes(db);
  await nameIndexesOfPartitions(db);
  await createMonthPartition(db);
  await createDistributeTable(db);
}

/** Names each index of a partition after the partition and the parent's index, instead of after its columns. */
async function createNameIndexes(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function pipeline.name_partition_indexes(parent text, own text) returns void
    language plpgsql set search_path = pg_catalog, pg_temp as $$
    declare
      index record;
    begin
      for index in
        select c.relname as old_name, own || substr(p.relname, length(parent) + 1) as new_name
        from pg_inherits h
        join pg_class c on c.oid = h.inhrelid
        join pg_class p on p.oid = h.inhparent
        join pg_index i on i.indexrelid = c.oid
        where i.indrelid = format('pipeline.%I', own)::regclass and starts_with(p.relname, parent)
      loop
        if index.old_name <> index.new_name then
          execute format('alter index pipeline.%I rename to %I', index.old_name, index.new_name);
        end if;
      end loop;
    end $$`.execute(db);
  await sql`revoke all on function pipeline.name_partition_indexes(text, text) from public`.execute(db);
}

async function nameIndexesOfPartitions(db: Kysely<unknown>): Promise<void> {
  await sql`
    select pipeline.name_partition_indexes(p.relname, c.relname)
    from pg_inherits h
    join pg_class c on c.oid = h.inhrelid
    join pg_class p on p.oid = h.inhparent
    where p.relnamespace = 'pipeline'::regnamespace and p.relkind = 'p'`.execute(db);
}

/** The function of migration 0034, and the names. */
async function createMonthPartition(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function pipeline.create_month_partition(parent text, month text) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
    declare
      time_column text := pipeline.partition_time_column(parent, month);
      own text := parent || '_' || replace(month, '-', '_');
      rest text := parent || '_default';
      starts timestamptz;
      ends timestamptz;
      columns text;
    begin
      if time_column is null then
        raise exception '"%" is not partitioned by month', parent using errcode = 'invalid_parameter_value';
      end if;
      starts := (month || '-01')::timestamp at time zone 'UTC';
      ends := ((month || '-01')::timestamp + interval '1 month') at time zone 'UTC';
      select string_agg(quote_ident(attname), ', ' order by attnum) into columns from pg_attribute
      where attrelid = format('pipeline.%I', parent)::regclass and attnum > 0 and not attisdropped;
      execute format('create table pipeline.%I (like pipeline.%I including all)', own, parent);
      execute format('lock table pipeline.%I in access exclusive mode', rest);
      execute format(
        'with moved as (delete from pipeline.%1$I where %2$I >= %3$L and %2$I < %4$L returning %5$s)
         insert into pipeline.%6$I (%5$s) select %5$s from moved', rest, time_column, starts, ends, columns, own);
      execute format('alter table pipeline.%I attach partition pipeline.%I for values from (%L) to (%L)',
        parent, own, starts, ends);
      perform pipeline.name_partition_indexes(parent, own);
    end $$`.execute(db);
}

/** Does nothing where tables are not distributed; otherwise the other nodes get the shards of an empty table. */
async function createDistributeTable(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function pipeline.distribute_table(own text) returns boolean
    language plpgsql set search_path = pg_catalog, pg_temp as $$
    declare
      is_distributed boolean := false;
    begin
      if not exists (select from pg_extension where extname = 'citus') then
        return false;
      end if;
      execute $q$select exists (select from pg_dist_partition where logicalrelid = 'pipeline.repos'::regclass)$q$
        into is_distributed;
      if not is_distributed then
        return false;
      end if;
      perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
      execute format('select create_distributed_table(%L, %L, colocate_with => %L)',
        'pipeline.' || own, 'tenant_id', 'pipeline.repos');
      return true;
    end $$`.execute(db);
  await sql`revoke all on function pipeline.distribute_table(text) from public`.execute(db);
}
