import { sql } from 'kysely';
import type { Db, Tx } from './connection.ts';
import { COLUMNS } from './database.generated.ts';
import { fleetNote } from './json.ts';
import { inTransaction } from './transaction.ts';

/** Tables that are partitioned by month, and by which time. */
export const PARTITIONED = {
  pipeline_events: 'created_at',
  issue_events: 'created_at',
  cost_events: 'created_at',
  agent_messages: 'task_created_at',
} as const;
export type PartitionedTable = keyof typeof PARTITIONED;

/** `2026-11`. */
export type Month = string;

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
 * Makes the partitions that are missing: of this month and so many after it, and of every month whose rows stand in the
 * default partition, because nobody made theirs in time. Such rows move along.
 * @returns the months that were made.
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

/** Makes the partitions of these months that are missing; the rest is as with {@link makePartitions}. */
export async function makeMonths(fleet: Db, table: PartitionedTable, months: readonly Month[]): Promise<Month[]> {
  const there = new Set(await monthsOf(fleet, table));
  const missing = months.filter((month) => !there.has(month));
  for (const month of missing) await inBrief(fleet, (tx) => makeMonth(tx, table, month));
  return missing;
}

/**
 * Attaching a finished table locks only the default partition against writers; creating it in place would lock them all.
 * The lock is taken before rows move, so none comes in meanwhile.
 */
async function makeMonth(tx: Tx, table: PartitionedTable, month: Month): Promise<void> {
  const [parent, rest, own] = [table, `${table}_default`, nameOf(table, month)].map((name) => sql.table(name));
  const time = sql.ref(PARTITIONED[table]);
  const columns = sql.join(COLUMNS[table].map((column) => sql.ref(column)));
  const [from, to] = boundsOf(month).map((bound) => sql.lit(bound));
  await sql`create table ${own} (like ${parent} including all)`.execute(tx);
  await sql`lock table ${rest} in access exclusive mode`.execute(tx);
  await sql`
    ${fleetNote('partitions hold the rows of all tenants')}
    with moved as (delete from ${rest} where ${time} >= ${from}::timestamptz and ${time} < ${to}::timestamptz returning ${columns})
    insert into ${own} (${columns}) select ${columns} from moved`.execute(tx);
  await sql`alter table ${parent} attach partition ${own} for values from (${from}) to (${to})`.execute(tx);
}

/**
 * Drops the partitions whose rows are all older than so many days, and with those of pipeline events what was counted of
 * them. What the default partition holds of that age goes too.
 * @returns the months that went.
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
    await inBrief(fleet, async (tx) => {
      await sql`drop table ${sql.table(nameOf(table, month))}`.execute(tx);
      if (table === 'pipeline_events') await forgetCounts(tx, month);
    });
  }
  return old;
}

const forgetCounts = (tx: Tx, month: Month) =>
  sql`
    ${fleetNote('retention')}
    delete from event_counts where at >= ${boundsOf(month)[0]}::timestamptz and at < ${boundsOf(month)[1]}::timestamptz`.execute(
    tx,
  );

/** Whoever writes to the table waits behind a lock that is waited for, so it is not waited for long. */
const inBrief = <T>(fleet: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  inTransaction(fleet, async (tx) => {
    await sql`set local lock_timeout = '2s'`.execute(tx);
    return work(tx);
  });

const nameOf = (table: PartitionedTable, month: Month): string => `${table}_${month.replace('-', '_')}`;

function boundsOf(month: Month): [from: string, to: string] {
  const from = new Date(`${month}-01T00:00:00.000Z`);
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1));
  return [from.toISOString(), to.toISOString()];
}
