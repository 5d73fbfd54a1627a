import { type Kysely, sql } from 'kysely';
import { MODEL_PRICES_OF_0016 } from './0016-model-prices.ts';

/** The states of this release. The order sets each state's bit in issues.reached_states. */
export const STATES_OF_0016: readonly string[] = [
  'new',
  'analyzing',
  'planning',
  'ready-for-dev',
  'in-review',
  'changes-requested',
  'merge-pending',
  'waiting-for-subtasks',
  'dependency-blocked',
  'failure-blocked',
  'needs-clarification',
  'human-review-ready',
  'done',
];

/**
 * Rollups for analytics, so that a query costs the same after ten million events as after ten thousand. Writers only
 * append to `rollup_deltas`; an aggregation adds them to the rollups. All of it is local to the coordinator of a
 * distributed store, like the stream. Repo 0, tenant 0 = all of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence pipeline.rollup_delta_id_seq`.execute(db);
  await sql`
    create table pipeline.rollup_deltas (
      id bigint primary key default nextval('pipeline.rollup_delta_id_seq'),
      tenant_id bigint not null,
      repo_id bigint not null,
      at timestamptz not null default pipeline.svc_now(),
      body jsonb not null
    ) with (
      autovacuum_vacuum_scale_factor = 0,
      autovacuum_vacuum_threshold = 2000,
      autovacuum_vacuum_cost_delay = 0
    )`.execute(db);
  for (const [table, columns] of Object.entries(SUMS)) {
    await sql`create table pipeline.${sql.ref(table)} (${sql.raw(columns)}) with (fillfactor = 80)`.execute(db);
  }
  // Days whose rollups were compared with the history; that also fills days before this migration.
  await sql.raw(CHECKS).execute(db);
  await createIndexes(db);
  // Which states an issue has been in, one bit each, in the order of the list of states.
  await sql`alter table pipeline.issues add column reached_states integer not null default 1`.execute(db);
  await sql`
    update pipeline.issues i set reached_states = 1 | t.reached
    from (
      select tenant_id, issue_id, bit_or(1 << (array_position(${sql.lit(`{${STATES_OF_0016.join(',')}}`)}::text[], to_state) - 1)) as reached
      from pipeline.transitions group by 1, 2
    ) t
    where t.tenant_id = i.tenant_id and t.issue_id = i.id`.execute(db);
  await createPrices(db);
}

/** Sums by minute are kept for days, sums by hour for the longest report: see the retention of each. */
const SUMS = {
  state_minutes: `
    tenant_id bigint not null, repo_id bigint not null, state text not null, minute timestamptz not null,
    entered bigint not null, departed bigint not null, reached bigint not null,
    primary key (tenant_id, repo_id, state, minute)`,
  stay_hours: `
    tenant_id bigint not null, repo_id bigint not null, state text not null, hour timestamptz not null,
    bucket integer not null, n bigint not null,
    primary key (tenant_id, repo_id, state, hour, bucket)`,
  transition_hours: `
    tenant_id bigint not null, repo_id bigint not null, from_state text not null, to_state text not null,
    hour timestamptz not null, n bigint not null,
    primary key (tenant_id, repo_id, hour, from_state, to_state)`,
  task_hours: `
    tenant_id bigint not null, repo_id bigint not null, event_type text not null, task_type text not null,
    hour timestamptz not null, n bigint not null,
    primary key (tenant_id, repo_id, hour, event_type, task_type)`,
  cost_sums: `
    tenant_id bigint not null, repo_id bigint not null, agent text not null, model text not null,
    provider text not null, grain text not null, at timestamptz not null, usd numeric(18,6) not null,
    invocations bigint not null, input_tokens bigint not null, output_tokens bigint not null,
    cache_read_tokens bigint not null, cache_write_tokens bigint not null, max_turns bigint not null,
    no_progress bigint not null,
    primary key (tenant_id, repo_id, grain, at, agent, model, provider)`,
  event_counts: `
    tenant_id bigint not null, repo_id bigint not null, event_type text not null, grain text not null,
    at timestamptz not null, n bigint not null,
    primary key (tenant_id, repo_id, grain, event_type, at)`,
} as const;

const CHECKS = `
  create table pipeline.rollup_checks (
    day date primary key,
    checked_at timestamptz not null,
    wrong bigint not null
  )`;

async function createIndexes(db: Kysely<unknown>): Promise<void> {
  // Old rows are found without a B-tree that each aggregation would have to update.
  await sql`create index state_minutes_by_time on pipeline.state_minutes using brin (minute)`.execute(db);
  await sql`create index stay_hours_by_time on pipeline.stay_hours using brin (hour)`.execute(db);
  // By time, for the parts of a window that begin within a minute or an hour, and for what is recomputed.
  await sql`create index transitions_by_state on pipeline.transitions (to_state, at)`.execute(db);
  // Few issues are reopened; counting issues by their transitions must exclude repetitions.
  await sql`create index transitions_out_of_done on pipeline.transitions (at) where from_state = 'done'`.execute(db);
  await sql`create index issues_by_entry on pipeline.issues (created_at)`.execute(db);
  await sql`create index pull_requests_merged on pipeline.pull_requests (merged_at) where merged`.execute(db);
  await sql`create index agent_invocations_by_time on pipeline.agent_invocations (tenant_id, created_at)`.execute(db);
  await sql`create index retrospectives_by_time on pipeline.retrospectives (created_at)`.execute(db);
  await sql`create index dead_letters_by_time on pipeline.dead_letters (created_at)`.execute(db);
  await sql`create index runs_retried on pipeline.runs (claimed_at) where attempt > 0`.execute(db);
  await sql`
    create index pipeline_events_of_issue on pipeline.pipeline_events (tenant_id, issue_id, created_at, id)`.execute(
    db,
  );
  // The frequent types are found near the head of any list; the others need their own index.
  await sql`
    create index pipeline_events_of_type on pipeline.pipeline_events (tenant_id, event_type, created_at, id)
    where event_type not in ('state_transition', 'task_enqueued', 'task_claimed', 'task_completed', 'task_failed')`.execute(
    db,
  );
}

/** Editable: USD per million tokens. A pattern ends in * or is the whole name. */
async function createPrices(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.model_prices (
      pattern text primary key,
      input_usd numeric(12,6) not null,
      output_usd numeric(12,6) not null,
      cache_read_usd numeric(12,6) not null,
      cache_write_usd numeric(12,6) not null,
      updated_at timestamptz not null default pipeline.svc_now()
    )`.execute(db);
  for (const [pattern, input, output, cacheRead, cacheWrite] of MODEL_PRICES_OF_0016) {
    await sql`
      insert into pipeline.model_prices (pattern, input_usd, output_usd, cache_read_usd, cache_write_usd)
      values (${sql.lit(pattern)}, ${sql.lit(input)}, ${sql.lit(output)}, ${sql.lit(cacheRead)}, ${sql.lit(cacheWrite)})`.execute(
      db,
    );
  }
}
