import { type RawBuilder, sql } from 'kysely';

const ORIGIN = sql`timestamptz '2000-01-01 00:00:00+00'`;
type Width = '1 minute' | '1 hour' | '1 day';
const bin = (width: Width, at: RawBuilder<unknown>) => sql`date_bin(interval ${sql.lit(width)}, ${at}, ${ORIGIN})`;
/** The first whole minute, hour or UTC day at or after a time. */
export const firstWhole = (width: Width, at: RawBuilder<unknown>) =>
  bin(width, sql`${at} + interval ${sql.lit(width)} - interval '1 microsecond'`);

/** Buckets of stays are two percent wide: what lies in the middle of one is at most one percent off. */
export const STAY_BUCKET = 1.02;
const BUCKET = sql`floor(ln(stay_ms + 1) / ln(${sql.lit(STAY_BUCKET)}::float8))::int`;
/** Milliseconds in the middle of a bucket. */
export const middleOf = (bucket: RawBuilder<unknown>) =>
  sql`(exp((${bucket} + 0.5) * ln(${sql.lit(STAY_BUCKET)}::float8)) - 1)`;

/** The beginning of the UTC month of a time. */
export const monthOf = (at: RawBuilder<unknown>) =>
  sql`date_trunc('month', ${at} at time zone 'UTC') at time zone 'UTC'`;
const MONTH_OF_C = sql`('month', ${monthOf(sql`c.at`)})`;

export type Facts = 'moves' | 'cohort' | 'costs' | 'events';

/** A table of sums: how its rows are made from facts, and of which stretch of time each is. */
export interface Sums {
  table: 'state_minutes' | 'stay_hours' | 'transition_counts' | 'task_counts' | 'cost_sums' | 'event_counts';
  keys: readonly string[];
  sums: readonly string[];
  /** The column that says of which stretch a row is. */
  time: string;
  /**
   * Rows of the finest kind, one for each fact and before anything is added up. `moves` and `cohort` are relations of
   * facts: the one holds moves by their own time, the other those of issues by the time of their entry.
   */
  cells: RawBuilder<unknown>;
  /** How many days its rows are kept; what is older is not made anew. */
  keptDays?: number;
  /** The same of its rows by the hour, where it has others besides. */
  hoursKeptDays?: number;
  /** Facts that `cells` reads. */
  reads: readonly Facts[];
  /** From the finest kind, as `c`, to all kinds that are kept; repo 0 = all of a tenant, tenant 0 = all. */
  kinds?: { from: RawBuilder<unknown>; columns: Readonly<Record<string, RawBuilder<unknown>>> };
}

/** The longest window that is read by the minute has seven days. */
const KEPT_DAYS = 9;
/** Only the day in which a window begins is read by the hour, and the longest window has 35 days. */
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
  reads: ['moves', 'cohort'],
  cells: sql`
    select tenant_id, repo_id, to_state as state, ${bin('1 minute', sql`at`)} as minute, 1 as entered, 0 as departed,
      0 as reached
    from moves
    union all
    select tenant_id, repo_id, from_state, ${bin('1 minute', sql`at`)}, 0, 1, 0 from moves where from_state is not null
    union all
    select tenant_id, repo_id, to_state, ${bin('1 minute', sql`cohort_at`)}, 0, 0, 1 from cohort where is_first`,
  kinds: LEVELS,
};

const stayHours: Sums = {
  table: 'stay_hours',
  keys: ['tenant_id', 'repo_id', 'state', 'hour', 'bucket'],
  sums: ['n'],
  time: 'hour',
  keptDays: KEPT_DAYS,
  reads: ['cohort'],
  cells: sql`
    select tenant_id, repo_id, from_state as state, ${bin('1 hour', sql`cohort_at`)} as hour, ${BUCKET} as bucket, 1 as n
    from cohort where from_state is not null and stay_ms is not null`,
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
  reads: ['moves'],
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
  reads: ['events'],
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
] as const;

const costSums: Sums = {
  table: 'cost_sums',
  keys: ['tenant_id', 'repo_id', 'agent', 'model', 'provider', 'grain', 'at'],
  sums: MEASURES,
  time: 'at',
  hoursKeptDays: HOURS_KEPT_DAYS,
  reads: ['costs'],
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
  reads: ['events'],
  cells: sql`select tenant_id, repo_id, event_type, 'day' as grain, ${bin('1 day', sql`at`)} as at, n from events`,
  kinds: DAYS_AND_MONTHS,
};

export const ALL_SUMS: readonly Sums[] = [stateMinutes, stayHours, transitionCounts, taskCounts, costSums, eventCounts];

/** Rows of the finest kind, added up at every kind that is kept. */
export function everyKind({ keys, sums, kinds }: Sums, cells: RawBuilder<unknown>): RawBuilder<unknown> {
  const key = (name: string) => sql`${kinds?.columns[name] ?? sql.ref(`c.${name}`)} as ${sql.ref(name)}`;
  const sum = (name: string) => sql`sum(${sql.ref(`c.${name}`)}) as ${sql.ref(name)}`;
  return sql`
    select ${sql.join([...keys.map(key), ...sums.map(sum)])}
    from (${cells}) c ${kinds?.from ?? sql``}
    group by ${sql.join(keys.map((_, at) => sql.lit(at + 1)))}`;
}

/** Adds rows to a table of sums, each to the row of its own key. They are sorted, so that no two writers cross. */
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

/** The rows of the finest kind of a table of sums, one for each fact. */
export function cellsOf(table: Sums['table']): RawBuilder<unknown> {
  const sums = ALL_SUMS.find((one) => one.table === table);
  if (!sums) throw new Error(`${table} is no table of sums`);
  return sums.cells;
}
