import { DAY_MS } from '@pipeline/domain';
import { closeFacts, makeMonths, migrateToLatest, PARTITIONED, type PartitionedTable } from '@pipeline/store';
import pg from 'pg';
import { storeAt } from '../history/filled.ts';
import { expectedMonths, filledDays } from './retained.ts';
import { COPIED, makeTemplate, TEMPLATE_MS, type Template } from './template.ts';

/** A column of a table that is copied, with its type as Postgres prints it. */
interface Column {
  name: string;
  type: string;
}

/** Differences between the rows of one copy and those of the template. */
export interface Shift {
  /** Number of the copy, from 0, the oldest. */
  copy: number;
  /** More than any id of the template. */
  idStride: number;
  /** More than any number of an issue or a pull request of the template. */
  numberStride: number;
  seconds: number;
}

/** Ids that the rows of a copy share with those of the others. */
const SHARED: ReadonlySet<string> = new Set(['tenant_id', 'repo_id', 'child_repo_id', 'parent_repo_id']);
const NUMBERS = /^(issue_number|number|pr_number|reverted_by|parent_issue_number|child_issue_number)$/;
const IDS = /^(id|.*_id)$/;
const UNIQUE_TEXTS: ReadonlySet<string> = new Set(['claim_token_hash', 'idempotency_key']);

/** Number of connections, for the usual two cores; no other work needs the cores meanwhile. */
const CONNECTIONS = 2;
/** Approximate number of events of one issue of the simulator; only the number of copies follows from it. */
const EVENTS_OF_ISSUE = 25;
/** Copies begin about a day apart. */
const COPIES = 350;
const FEWEST_ISSUES = 60;

interface FillOptions {
  url: string;
  /** Pipeline events, about. */
  events: number;
  seed: number;
  end: Date;
  note: (text: string) => void;
}

export interface Filled extends Template {
  start: Date;
  end: Date;
  copies: number;
}

/**
 * Fills an empty store with a history of {@link filledDays}: a simulated template of five days, copied with other ids
 * at times that are spread evenly.
 */
export async function fill({ url, events, seed, end, note }: FillOptions): Promise<Filled> {
  await migrateToLatest(url);
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(url)));
  const [first] = clients;
  try {
    if (!first) throw new Error('no connection');
    const issues = Math.max(FEWEST_ISSUES, Math.round(events / EVENTS_OF_ISSUE / COPIES));
    const template = await makeTemplate(first, { url, issues, seed, end });
    const copies = Math.max(2, Math.round(events / (template.templateRows.pipeline_events ?? 1)));
    note(`template: ${issues} issues, ${JSON.stringify(template.templateRows)}; ${copies} copies`);
    const start = new Date(end.getTime() - filledDays('pipeline_events') * DAY_MS);
    await makePartitions(url, end);
    const columns = await columnsOf(first);
    const strides = await stridesOf(first);
    const spanMs = end.getTime() - TEMPLATE_MS - start.getTime();
    let next = 0;
    const copyNext = async (client: pg.Client) => {
      for (let copy = next++; copy < copies; copy = next++) {
        const seconds = Math.round((spanMs * (copies - 1 - copy)) / (copies - 1) / 1_000);
        await insertCopy(client, columns, { end, shift: { ...strides, copy, seconds } });
      }
    };
    await Promise.all(clients.map(copyNext));
    note('copied');
    await finish(first, copies * strides.idStride);
    await sumUp(url, end);
    note('rollups computed');
    await first.query('vacuum (analyze)');
    return { ...template, start, end, copies };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // Foreign keys hold by the way the rows are made.
  await client.query(
    `set session_replication_role = replica; set search_path = pipeline, public; set work_mem = '64MB'`,
  );
  return client;
}

async function makePartitions(url: string, end: Date): Promise<void> {
  const store = storeAt(url, end);
  try {
    for (const table of Object.keys(PARTITIONED) as PartitionedTable[]) {
      await makeMonths(store.db, table, expectedMonths(end, filledDays(table), 0));
    }
  } finally {
    await store.close();
  }
}

async function columnsOf(client: pg.Client): Promise<Map<string, Column[]>> {
  const { rows } = await client.query<Column & { table: string }>(
    `select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relnamespace = 'pipeline'::regnamespace and c.relname = any($1) order by a.attnum`,
    [Object.keys(COPIED)],
  );
  return Map.groupBy(rows, ({ table }) => table);
}

async function stridesOf(client: pg.Client): Promise<Pick<Shift, 'idStride' | 'numberStride'>> {
  const ids = ['transitions', 'runs', 'pipeline_events', 'issue_events', 'cost_events', 'projections', 'artefacts'];
  const { rows } = await client.query<{ ids: string; numbers: number }>(
    `select (select max(id) + 1 from (${ids.map((table) => `select max(id) as id from template.${table}`).join(' union all ')}) m) as ids,
       (select max(n) + 1 from (select max(issue_number) as n from template.issues
         union all select max(number) from template.pull_requests) m) as numbers`,
  );
  return { idStride: Number(rows[0]?.ids), numberStride: Number(rows[0]?.numbers) };
}

async function insertCopy(
  client: pg.Client,
  columns: ReadonlyMap<string, Column[]>,
  { end, shift }: { end: Date; shift: Shift },
): Promise<void> {
  await client.query('begin');
  for (const [table, time] of Object.entries(COPIED)) {
    const since = new Date(end.getTime() - filledDays(table) * DAY_MS + shift.seconds * 1_000);
    const from = { shift, since: `t.${time} >= '${since.toISOString()}'` };
    await client.query(copyStatement(table, columns.get(table) ?? [], from));
  }
  await client.query('commit');
}

/** Makes the rollups, adds one run that never ended, and sets the sequences. */
async function finish(client: pg.Client, nextId: number): Promise<void> {
  await client.query(`update runs set status = 'claimed', finished_at = null
    where (tenant_id, id) in (select tenant_id, id from runs order by id limit 1)`);
  await client.query(`insert into issue_counts (tenant_id, repo_id, state, is_paused, is_blocked, n, writes)
    select tenant_id, repo_id, state, is_paused, is_blocked, count(*), count(*) from issue_list group by 1, 2, 3, 4, 5`);
  const { rows } = await client.query<{ name: string }>(
    `select sequencename as name from pg_sequences where schemaname = 'pipeline'
       and sequencename not in ('tenant_id_seq', 'repo_id_seq', 'user_id_seq')`,
  );
  for (const { name } of rows) await client.query(`select setval('pipeline.${name}', ${nextId})`);
  await client.query('drop schema template cascade');
}

/** The rollups, by the code that makes them, a month at a time. */
async function sumUp(url: string, end: Date): Promise<void> {
  const store = storeAt(url, end);
  try {
    while (await closeFacts(store.db, 31 * 24));
  } finally {
    await store.close();
  }
}

/** Tables whose retention no setting changes: filled when the monitor has had its first round. */
export async function fillUnsettled(url: string, { end, tenantIds }: Filled): Promise<void> {
  const client = await connect(url);
  const since = (table: string) => new Date(end.getTime() - filledDays(table) * DAY_MS).toISOString();
  try {
    // The host reports each of our own writes as well as those of people: one delivery an event.
    await client.query(
      `insert into webhook_deliveries (delivery_id, event, events, lane, received_at, processed_at)
       select 'filled-' || id, 'issues', jsonb_build_array(jsonb_build_object('type', 'issue', 'number', issue_number,
           'title', 'Issue ' || issue_number, 'body', repeat(md5(id::text), 20), 'labels', payload)),
         repo_id || '/' || issue_number, created_at, created_at + interval '1 s'
       from pipeline_events where tenant_id = any($1) and created_at >= $2`,
      [tenantIds, since('webhook_deliveries')],
    );
    await client.query(
      `insert into kpi_snapshots (tenant_id, repo_id, kpi, day, computed_at, value, baseline_value, relative_delta, sample_size,
         baseline_sample_size, regressed, magnitude, direction)
       select tenant_id, id, 'kpi-' || k, d::date, d, k, k, 0, 10, 10, false, 'none', 'flat'
       from repos, generate_series(1, 8) k, generate_series($2::timestamptz, $3::timestamptz, interval '1 day') d
       where tenant_id = any($1)`,
      [tenantIds, since('kpi_snapshots'), end.toISOString()],
    );
    await client.query(
      `insert into worker_periods (tenant_id, worker_id, kind, started_at, ended_at)
       select tenant_id, id, 'online', d, d + interval '1 hour'
       from workers, generate_series($2::timestamptz, $3::timestamptz - interval '1 hour', interval '1 hour') d
       where tenant_id = any($1)`,
      [tenantIds, since('worker_periods'), end.toISOString()],
    );
    await client.query('vacuum (analyze) webhook_deliveries, kpi_snapshots, worker_periods');
  } finally {
    await client.end();
  }
}

/** @returns the SQL of a column's value in a copy, of a row `t` of the template. */
export function expressionOf({ name, type }: Column, shift: Shift): string {
  const column = `t.${name}`;
  const { copy } = shift;
  if (type === 'timestamp with time zone') return `${column} - interval '${shift.seconds} s'`;
  if (type === 'uuid') {
    // Ascending from copy to copy, as UUIDs of version 7 are.
    const prefix = copy.toString(16).padStart(8, '0');
    return `overlay(md5(${column}::text || '${copy}') placing '${prefix}' from 1 for 8)::uuid`;
  }
  if (UNIQUE_TEXTS.has(name)) return `${column} || '-${copy}'`;
  if (NUMBERS.test(name)) return `${column} + ${copy * shift.numberStride}`;
  if (type === 'bigint' && IDS.test(name) && !SHARED.has(name)) return `${column} + ${copy * shift.idStride}`;
  if (name === 'body' && type === 'text') return bodyOf(shift);
  return column;
}

/** The stored item of a list names its issue; other bodies name none. */
const bodyOf = ({ copy, numberStride }: Shift): string =>
  `case when t.body like '{"issueNumber":%' then
    regexp_replace(t.body, '^\\{"issueNumber":\\d+', '{"issueNumber":' || ((t.body::json ->> 'issueNumber')::int + ${copy * numberStride}))
    else t.body end`;

/** @returns the statement that inserts a copy of a table, without rows before a time. */
export function copyStatement(
  table: string,
  columns: readonly Column[],
  from: { shift: Shift; since: string },
): string {
  const names = columns.map(({ name }) => name).join(', ');
  const values = columns.map((column) => expressionOf(column, from.shift)).join(', ');
  return `insert into pipeline.${table} (${names}) select ${values} from template.${table} t where ${from.since}`;
}
