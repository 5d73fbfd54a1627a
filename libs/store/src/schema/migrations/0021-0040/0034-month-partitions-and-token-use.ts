import { type Kysely, sql } from 'kysely';

/**
 * Adds the functions through which a role without DDL rights creates and drops monthly partitions, the expiry and last
 * use of worker tokens, and the last known push protection of each repository's default branch.
 *
 * Both functions run with the rights of their owner (SECURITY DEFINER), so their arguments are narrow: one of four
 * tables and a month. Only their owner may call them until the migrator grants it to the monitor's role.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createTimeColumn(db);
  await createMonthPartition(db);
  await dropMonthPartition(db);
  for (const name of ['create_month_partition', 'drop_month_partition']) {
    await sql`revoke all on function pipeline.${sql.ref(name)}(text, text) from public`.execute(db);
  }
  await sql`alter table pipeline.worker_tokens add column expires_at timestamptz`.execute(db);
  await sql`alter table pipeline.worker_tokens add column last_used_at timestamptz`.execute(db);
  await sql`alter table pipeline.repos add column push_restricted boolean`.execute(db);
  await sql`alter table pipeline.repos add column push_checked_at timestamptz`.execute(db);
}

/** Validates the arguments of both functions. @returns the column by which the table is partitioned. */
async function createTimeColumn(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function pipeline.partition_time_column(parent text, month text) returns text
    language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
    begin
      if month is null or month !~ '^[0-9]{4}-(0[1-9]|1[0-2])$' then
        raise exception 'month must be YYYY-MM, got "%"', month using errcode = 'invalid_parameter_value';
      end if;
      return case
        when parent in ('pipeline_events', 'issue_events', 'cost_events') then 'created_at'
        when parent = 'agent_messages' then 'task_created_at'
      end;
    end $$`.execute(db);
}

/**
 * Attaching a finished table locks only the default partition against writers; creating it in place would lock them
 * all. The lock is acquired before rows move, so that no row arrives in between.
 */
async function createMonthPartition(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function pipeline.create_month_partition(parent text, month text) returns void
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
    end $$`.execute(db);
}

/** Refuses the present month and later ones: retention keeps at least one day. */
async function dropMonthPartition(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function pipeline.drop_month_partition(parent text, month text) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
    begin
      if pipeline.partition_time_column(parent, month) is null then
        raise exception '"%" is not partitioned by month', parent using errcode = 'invalid_parameter_value';
      end if;
      if month >= to_char(pipeline.svc_now() at time zone 'UTC', 'YYYY-MM') then
        raise exception 'month % is not over', month using errcode = 'invalid_parameter_value';
      end if;
      execute format('drop table pipeline.%I', parent || '_' || replace(month, '-', '_'));
    end $$`.execute(db);
}
