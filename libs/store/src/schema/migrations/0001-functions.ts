import { type Kysely, sql } from 'kysely';

/** Functions: the clock, the fence of the leader, partitions by month, and the placement on a cluster. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await extensions(db);
  await sql`
    create function pipeline.assert_leader(leader_name text, leader_epoch bigint) returns void
    language plpgsql
    as $$
    begin
      perform pg_advisory_xact_lock_shared(hashtextextended('pipeline.fence:' || leader_name, 0));
      if not exists (select from pipeline.leaders where name = leader_name and epoch = leader_epoch) then
        raise exception 'leadership of % has ended: epoch % is over', leader_name, leader_epoch using errcode = 'PL001';
      end if;
    end $$`.execute(db);
  await sql`
    create function pipeline.create_month_partition(parent text, month text) returns void
    language plpgsql security definer
    set search_path to 'pg_catalog', 'pg_temp'
    set lock_timeout to '2s'
    as $_$
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
    end $_$`.execute(db);
  await sql`
    revoke all on function pipeline.create_month_partition(text, text) from public`.execute(db);
  await sql`
    create function pipeline.distribute_table(own text) returns boolean
    language plpgsql
    set search_path to 'pg_catalog', 'pg_temp'
    as $_$
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
    end $_$`.execute(db);
  await sql`
    revoke all on function pipeline.distribute_table(text) from public`.execute(db);
  await sql`
    create function pipeline.drop_month_partition(parent text, month text) returns void
    language plpgsql security definer
    set search_path to 'pg_catalog', 'pg_temp'
    set lock_timeout to '2s'
    as $$
    begin
      if pipeline.partition_time_column(parent, month) is null then
        raise exception '"%" is not partitioned by month', parent using errcode = 'invalid_parameter_value';
      end if;
      if month >= to_char(pipeline.svc_now() at time zone 'UTC', 'YYYY-MM') then
        raise exception 'month % is not over', month using errcode = 'invalid_parameter_value';
      end if;
      execute format('drop table pipeline.%I', parent || '_' || replace(month, '-', '_'));
    end $$`.execute(db);
  await sql`
    revoke all on function pipeline.drop_month_partition(text, text) from public`.execute(db);
  await sql`
    create function pipeline.name_partition_indexes(parent text, own text) returns void
    language plpgsql
    set search_path to 'pg_catalog', 'pg_temp'
    as $$
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
  await sql`
    revoke all on function pipeline.name_partition_indexes(text, text) from public`.execute(db);
  await sql`
    create function pipeline.partition_time_column(parent text, month text) returns text
    language plpgsql immutable
    set search_path to 'pg_catalog', 'pg_temp'
    as $_$
    begin
      if month is null or month !~ '^[0-9]{4}-(0[1-9]|1[0-2])$' then
        raise exception 'month must be YYYY-MM, got "%"', month using errcode = 'invalid_parameter_value';
      end if;
      return case
        when parent in ('pipeline_events', 'issue_events', 'cost_events') then 'created_at'
        when parent = 'agent_messages' then 'task_created_at'
      end;
    end $_$`.execute(db);
  await sql`
    create function pipeline.svc_now() returns timestamp with time zone
    language plpgsql stable cost 3 parallel safe
    as $$
    declare
      held text := current_setting('svc.now', true);
    begin
      if held is null or held = '' then
        return now();
      end if;
      return held::timestamptz;
    end $$`.execute(db);
  await sql`
    create function pipeline.take_leader(leader_name text, leader_holder text) returns bigint
    language plpgsql
    set lock_timeout to '2s'
    as $$
    declare
      session_key constant bigint := hashtextextended('pipeline.lead:' || leader_name, 0);
      new_epoch bigint;
    begin
      if not pg_try_advisory_lock(session_key) then return null; end if;
      begin
        perform pg_advisory_xact_lock(hashtextextended('pipeline.fence:' || leader_name, 0));
        insert into pipeline.leaders as l (name, epoch, holder, since)
          values (leader_name, 1, leader_holder, pipeline.svc_now())
          on conflict (name) do update set epoch = l.epoch + 1, holder = excluded.holder, since = excluded.since
          returning l.epoch into new_epoch;
        return new_epoch;
      exception when others then
        perform pg_advisory_unlock(session_key);
        if sqlstate = '55P03' then return null; end if;
        raise;
      end;
    end $$`.execute(db);
}

/** Both come with Postgres and are trusted: the CREATE privilege on the database is sufficient. */
const EXTENSIONS = ['pg_trgm', 'btree_gin'] as const;

async function extensions(db: Kysely<unknown>): Promise<void> {
  for (const name of EXTENSIONS) {
    await sql`create extension if not exists ${sql.ref(name)} with schema public`.execute(db);
    const { rows } = await sql<{ schema: string }>`
      select n.nspname as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
      where e.extname = ${name} and n.nspname not in ('public', 'pipeline', 'pg_catalog')`.execute(db);
    const [elsewhere] = rows;
    if (!elsewhere) continue;
    const mend = `alter extension ${name} set schema public`;
    throw new Error(`the extension ${name} is in the schema "${elsewhere.schema}", where it is not found: ${mend}`);
  }
}
