import { type RawBuilder, sql } from 'kysely';
import type { Facts } from './facts.ts';

const ORIGIN = sql`timestamptz '2000-01-01 00:00:00+00'`;
type Width = '1 minute' | '1 hour' | '1 day';
export const bin = (width: Width, at: RawBuilder<unknown>) =>
  sql`date_bin(interval ${sql.lit(width)}, ${at}, ${ORIGIN})`;
/** The first whole minute, hour or UTC day at or after a time. */
export const firstWhole = (width: Width, at: RawBuilder<unknown>) =>
  bin(width, sql`${at} + interval ${sql.lit(width)} - interval '1 microsecond'`);

/** Histogram buckets are two percent wide, so their middle is at most one percent off. */
const DWELL_TIME_BUCKET = 1.02;
/** A stay below zero counts as none: such a row must not stop all sums. */
const BUCKET = sql`floor(ln(greatest(stay_ms, 0) + 1) / ln(${sql.lit(DWELL_TIME_BUCKET)}::float8))::int`;
/** Milliseconds in the middle of a bucket. */
export const middleOf = (bucket: RawBuilder<unknown>) =>
  sql`(exp((${bucket} + 0.5) * ln(${sql.lit(DWELL_TIME_BUCKET)}::float8)) - 1)`;

/** The beginning of the UTC month of a time. */
export const monthOf = (at: RawBuilder<unknown>) =>
  sql`date_trunc('month', ${at} at time zone 'UTC') at time zone 'UTC'`;
const MONTH_OF_C = sql`('month', ${monthOf(sql`c.at`)})`;

/** A rollup table: how its rows are computed from facts, and the stretch of time each covers. */
export interface Sums {
  table: 'state_minutes' | 'stay_hours' | 'transition_counts' | 'task_counts' | 'cost_sums' | 'event_counts';
  keys: readonly string[];
  sums: readonly string[];
  /** The column with the start of a row's stretch. */
  time: string;
  /** Rows of the finest grain, one per fact, before aggregation. */
  cells: RawBuilder<unknown>;
  /** Retention of its rows in days; of those by the hour alone if it has others too. */
  keptDays?: number;
  /** The relation of facts that `cells` reads. */
  reads: Facts;
  /**
   * Aggregation from the finest grain, as `c`, to all grains that are stored; repo 0 = all of a tenant, tenant 0 = all.
   */
  kinds?: { from: RawBuilder<unknown>; columns: Readonly<Record<string, RawBuilder<unknown>>> };
}

/** The longest window that reads minutes has seven days. */
const KEPT_DAYS = 9;
/** Only the first day of a window is read by the hour, and the longest window has 35 days. */
const HOURS_KEPT_DAYS = 45;

const LEVELS = {
  from: sql`cross join lateral (values (c.tenant_id, c.repo_id), (c.tenant_id, 0), (0, 0)) level (tenant_id, repo_id)`,
  columns: { tenant_id: sql`level.tenant_id`, repo_id: sql`level.repo_id` },
};

const stateMinutes: Sums = {
  table: 'state_minutes',
  keys: ['tenant_id', 'repo_id', 'state', 'minute'],
  sums: ['entered', 'departed', 'reached'],
  time: 'minute',
  keptDays: KEPT_DAYS,
  reads: 'moves',
  cells: sql`
    select tenant_id, repo_id, to_state as state, ${bin('1 minute', sql`at`)} as minute, 1 as entered, 0 as departed,
      0 as reached
    from moves
    union all
    select tenant_id, repo_id, from_state, ${bin('1 minute', sql`at`)}, 0, 1, 0 from moves where from_state is not null
    union all
    select tenant_id, repo_id, to_state, ${bin('1 minute', sql`admitted_at`)}, 0, 0, 1 from moves where is_first`,
  kinds: LEVELS,
};

const stayHours: Sums = {
  table: 'stay_hours',
  keys: ['tenant_id', 'repo_id', 'state', 'hour', 'bucket'],
  sums: ['n'],
  time: 'hour',
  keptDays: KEPT_DAYS,
  reads: 'moves',
  cells: sql`
    select tenant_id, repo_id, from_state as state, ${bin('1 hour', sql`admitted_at`)} as hour, ${BUCKET} as bucket, 1 as n
    from moves where from_state is not null and stay_ms is not null`,
  kinds: LEVELS,
};

const DAYS_AND_MONTHS = {
  from: sql`cross join lateral (values ('day', c.at), ${MONTH_OF_C}) as kind (grain, at)`,
  columns: { grain: sql`kind.grain`, at: sql`kind.at` },
};

const transitionCounts: Sums = {
  table: 'transition_counts',
  keys: ['tenant_id', 'repo_id', 'from_state', 'to_state', 'grain', 'at'],
  sums: ['n'],
  time: 'at',
  reads: 'moves',
  cells: sql`
    select tenant_id, repo_id, from_state, to_state, 'day' as grain, ${bin('1 day', sql`at`)} as at, 1 as n
    from moves where from_state is not null`,
  kinds: DAYS_AND_MONTHS,
};

const taskCounts: Sums = {
  table: 'task_counts',
  keys: ['tenant_id', 'repo_id', 'event_type', 'task_type', 'grain', 'at'],
  sums: ['n'],
  time: 'at',
  reads: 'events',
  cells: sql`
    select tenant_id, repo_id, event_type, task_type, 'day' as grain, ${bin('1 day', sql`at`)} as at, n
    from events where task_type is not null`,
  kinds: DAYS_AND_MONTHS,
};

const MEASURES = [
  'usd',
  'invocations',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'max_turns',
  'no_progress',
  'unreported_costs',
] as const;

export const costSums: Sums = {
  table: 'cost_sums',
  keys: ['tenant_id', 'repo_id', 'agent', 'model', 'provider', 'grain', 'at'],
  sums: MEASURES,
  time: 'at',
  keptDays: HOURS_KEPT_DAYS,
  reads: 'costs',
  cells: sql`
    select tenant_id, repo_id, agent, model, provider, 'hour' as grain, ${bin('1 hour', sql`at`)} as at,
      ${sql.join(MEASURES.map((name) => sql.ref(name)))}
    from costs`,
  kinds: {
    from: sql`cross join lateral (values ('hour', c.at), ('day', ${bin('1 day', sql`c.at`)}), ${MONTH_OF_C}) as kind (grain, at)`,
    columns: { grain: sql`kind.grain`, at: sql`kind.at` },
  },
};

const eventCounts: Sums = {
  table: 'event_counts',
  keys: ['tenant_id', 'repo_id', 'event_type', 'grain', 'at'],
  sums: ['n'],
  time: 'at',
  reads: 'events',
  cells: sql`select tenant_id, repo_id, event_type, 'day' as grain, ${bin('1 day', sql`at`)} as at, n from events`,
  kinds: DAYS_AND_MONTHS,
};

export const ALL_SUMS: readonly Sums[] = [stateMinutes, stayHours, transitionCounts, taskCounts, costSums, eventCounts];

/** Rows of the finest grain, aggregated to every stored grain. */
export function everyKind({ keys, sums, kinds }: Sums, cells: RawBuilder<unknown>): RawBuilder<unknown> {
  const key = (name: string) => sql`${kinds?.columns[name] ?? sql.ref(`c.${name}`)} as ${sql.ref(name)}`;
  const sum = (name: string) => sql`sum(${sql.ref(`c.${name}`)}) as ${sql.ref(name)}`;
  return sql`
    select ${sql.join([...keys.map(key), ...sums.map(sum)])}
    from (${cells}) c ${kinds?.from ?? sql``}
    group by ${sql.join(keys.map((_, at) => sql.lit(at + 1)))}`;
}

/**
 * Adds rows to a rollup table, each to the row of its key. They are sorted, so that concurrent writers cannot deadlock.
 */
export function addTo({ table, keys, sums }: Sums, rows: RawBuilder<unknown>): RawBuilder<unknown> {
  const columns = sql.join([...keys, ...sums].map((name) => sql.ref(name)));
  const target = sql.join(keys.map((name) => sql.ref(name)));
  return sql`
    insert into ${sql.table(table)} as s (${columns})
    select ${columns} from (${rows}) r
    order by ${target}
    on conflict (${target}) do update set
      ${sql.join(sums.map((name) => sql`${sql.ref(name)} = ${sql.ref(`s.${name}`)} + ${sql.ref(`excluded.${name}`)}`))}`;
}

/** The rows of the finest grain of a rollup table, one per fact. */
export function cellsOf(table: Sums['table']): RawBuilder<unknown> {
  const sums = ALL_SUMS.find((one) => one.table === table);
  if (!sums) throw new Error(`${table} is not a rollup table`);
  return sums.cells;
}
