import { type Kysely, sql } from 'kysely';

/** Most tokens of one kind that a model call can have since this release. */
const MAX_CALL_TOKENS = 1_000_000_000;

/** Column of a call, and the measure of it in a delta of the rollups. */
const TOKENS = {
  input_tokens: 'inputTokens',
  output_tokens: 'outputTokens',
  cache_read_tokens: 'cacheReadTokens',
  cache_write_tokens: 'cacheWriteTokens',
} as const;

/**
 * Widens the columns of money and of token sums, so that no number of reports within the bounds of the protocol
 * overflows them. Then cuts token counts above the new bound, which earlier releases accepted, and appends the
 * difference to the rollups as a correction: the next fold subtracts it from the sums of hour, day and month.
 *
 * Money keeps its scale, so only the catalogue changes. The table of cost sums is rewritten; it holds one row for each
 * repo, agent, model and hour of 45 days. Cutting reads all model calls once.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, column] of [
    ['issues', 'cost_usd'],
    ['runs', 'cost_usd'],
    ['daily_spend', 'spent_usd'],
    ['strategy_runs', 'cost_usd'],
    ['strategy_snapshots', 'cost_usd'],
  ] as const) {
    await sql`alter table pipeline.${sql.ref(table)} alter column ${sql.ref(column)} type numeric(24,6)`.execute(db);
  }
  const tokens = sql.join(Object.keys(TOKENS).map((name) => sql`alter column ${sql.ref(name)} type numeric(38,0)`));
  await sql`alter table pipeline.cost_sums alter column usd type numeric(30,6), ${tokens}`.execute(db);
  await appendCorrections(db);
  await cutCalls(db);
}

const columns = Object.keys(TOKENS).map((name) => sql.ref(`a.${name}`));
const isAboveBound = sql`greatest(${sql.join(columns)}) > ${sql.lit(MAX_CALL_TOKENS)}`;

async function appendCorrections(db: Kysely<unknown>): Promise<void> {
  const growth = Object.entries(TOKENS).map(
    ([column, measure]) => sql`${sql.lit(measure)}, least(0, ${sql.lit(MAX_CALL_TOKENS)} - ${sql.ref(`a.${column}`)})`,
  );
  await sql`
    insert into pipeline.rollup_deltas (tenant_id, repo_id, body)
    select r.tenant_id, r.repo_id, jsonb_build_object('moves', '[]'::jsonb, 'events', '[]'::jsonb, 'costs', jsonb_agg(
      jsonb_build_object('agent', r.agent, 'model', a.model, 'provider', a.provider, 'usd', 0, 'call', jsonb_build_object(
        'at', a.created_at, 'invocations', 0, 'maxTurns', 0, 'noProgress', 0, ${sql.join(growth)}))))
    from pipeline.agent_invocations a join pipeline.runs r on r.tenant_id = a.tenant_id and r.id = a.run_id
    where ${isAboveBound}
    group by r.tenant_id, r.repo_id`.execute(db);
}

async function cutCalls(db: Kysely<unknown>): Promise<void> {
  const cut = Object.keys(TOKENS).map(
    (column) => sql`${sql.ref(column)} = least(${sql.ref(`a.${column}`)}, ${sql.lit(MAX_CALL_TOKENS)})`,
  );
  await sql`update pipeline.agent_invocations a set ${sql.join(cut)} where ${isAboveBound}`.execute(db);
}
