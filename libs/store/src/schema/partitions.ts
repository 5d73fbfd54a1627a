import { sql } from 'kysely';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { inTransaction } from '../driver/transaction.ts';

/**
 * Tables that are partitioned by month, and by which time. Partitions are created and dropped by functions of the
 * schema (migration 0034) that run with their owner's rights: the services' roles have no DDL rights. Both functions
 * wait at most two seconds for a lock, because every writer queues behind a pending ACCESS EXCLUSIVE lock.
 */
export const PARTITIONED = {
  pipeline_events: 'created_at',
  issue_events: 'created_at',
  cost_events: 'created_at',
  agent_messages: 'task_created_at',
} as const;
export type PartitionedTable = keyof typeof PARTITIONED;

/** `2026-11`. */
type Month = string;

const FAR = /_(\d{4})_(\d{2})$/;

/** The months that have a partition, oldest first. */
export async function monthsOf(fleet: Db, table: PartitionedTable): Promise<Month[]> {
  const { rows } = await sql<{ name: string }>`
    ${fleetNote('the catalogue is of the whole store')}
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${`pipeline.${table}`}::regclass order by c.relname`.execute(fleet);
  return rows.flatMap(({ name }) => {
    const [, year, month] = FAR.exec(name) ?? [];
    return year && month ? [`${year}-${month}`] : [];
  });
}

/**
 * Creates missing partitions: of this month and so many after it, and of every month with rows in the default
 * partition, because its partition was not created in time. Such rows are moved.
 * @returns the months that were created.
 * @throws the store's error 55P03 when writers would have had to wait for it for longer than two seconds.
 */
export async function makePartitions(fleet: Db, table: PartitionedTable, ahead: number): Promise<Month[]> {
  const { rows } = await sql<{ month: Month }>`
    ${fleetNote('partitions hold the rows of all tenants')}
    select to_char(month at time zone 'UTC', 'YYYY-MM') as month from (
      select date_trunc('month', svc_now(), 'UTC') + n * interval '1 month' as month from generate_series(0, ${ahead}) n
      union select distinct date_trunc('month', ${sql.ref(PARTITIONED[table])}, 'UTC') from ${sql.table(`${table}_default`)}
    ) wanted order by month`.execute(fleet);
  return makeMonths(
    fleet,
    table,
    rows.map(({ month }) => month),
  );
}

/** Creates the missing partitions of these months; otherwise like {@link makePartitions}. */
export async function makeMonths(fleet: Db, table: PartitionedTable, months: readonly Month[]): Promise<Month[]> {
  const there = new Set(await monthsOf(fleet, table));
  const missing = months.filter((month) => !there.has(month));
  for (const month of missing) {
    await sql`select create_month_partition(${table}::text, ${month}::text)`.execute(fleet);
  }
  return missing;
}

/**
 * Drops the partitions whose rows are all older than so many days, and the counts of dropped pipeline events. Rows of
 * that age in the default partition are deleted too.
 * @returns the dropped months.
 * @throws the store's error 55P03 when others would have had to wait for it for longer than two seconds.
 */
export async function dropPartitions(fleet: Db, table: PartitionedTable, keptDays: number): Promise<Month[]> {
  const { rows } = await sql<{ before: string }>`
    select to_char((svc_now() - ${`${keptDays} days`}::interval) at time zone 'UTC', 'YYYY-MM') as before`.execute(
    fleet,
  );
  const before = rows[0]?.before ?? '';
  const old = (await monthsOf(fleet, table)).filter((month) => month < before);
  for (const month of old) {
    await inTransaction(fleet, async (tx) => {
      // First: from the drop until the commit no other session reads or writes the table.
      if (table === 'pipeline_events') await deleteCounts(tx, month);
      await sql`select drop_month_partition(${table}::text, ${month}::text)`.execute(tx);
    });
  }
  return old;
}

const deleteCounts = (tx: Tx, month: Month) =>
  sql`
    ${fleetNote('retention')}
    delete from event_counts where at >= ${boundsOf(month)[0]}::timestamptz and at < ${boundsOf(month)[1]}::timestamptz`.execute(
    tx,
  );

function boundsOf(month: Month): [from: string, to: string] {
  const from = new Date(`${month}-01T00:00:00.000Z`);
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1));
  return [from.toISOString(), to.toISOString()];
}
