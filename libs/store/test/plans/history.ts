import type { TestDatabase } from '@pipeline/testing';
import { withoutChecks } from '@pipeline/testing/history';
import { sql } from 'kysely';
import { inTransaction, type Store, type Tx } from '../../src/index.ts';

/**
 * A history large enough for realistic plans: 100,000 issues of 20 repos in 4 tenants, 400,000 events, 200,000 runs and
 * projections. Most issues are done.
 */
export async function makeHistory({ db }: TestDatabase): Promise<void> {
  await inTransaction(db, async (tx) => {
    await withoutChecks(tx);
    await addIssues(tx);
    await addRecords(tx);
    await addOutcomes(tx);
  });
  await sql`vacuum analyze`.execute(db);
  // Flushes the statistics of these reads now, and not in the middle of a test.
  await sql`select pg_stat_force_next_flush()`.execute(db);
}

async function addIssues(tx: Tx): Promise<void> {
  await sql`
    insert into tenants (external_id, name) select 'tenant-' || n, 'Tenant ' || n from generate_series(1, 4) n`.execute(
    tx,
  );
  await sql`
    insert into repos (tenant_id, owner, name, slug_key, vcs_host, clone_url, enabled)
    select t.id, 'acme', 'shop-' || n, 'acme/shop-' || n, 'sandbox', '', true
    from tenants t, generate_series(1, 5) n where t.external_id like 'tenant-%'`.execute(tx);
  await sql`
    insert into issues (tenant_id, repo_id, issue_number, title, body, url, state, state_entered_at, is_blocked, is_paused,
      host_created_at, host_updated_at)
    select r.tenant_id, r.id, n, ${sql.raw(TITLE)} || n, repeat('x', 300), '', ${sql.raw(STATE)},
      now() - make_interval(mins => n * 7 % 40000), n % 100 = 1, n % 100 = 2, now(), now()
    from repos r, generate_series(1, 5000) n`.execute(tx);
  await sql`
    insert into issue_list (tenant_id, repo_id, issue_number, state, is_paused, is_blocked, state_entered_at, body,
      written_at)
    select tenant_id, repo_id, issue_number, state, is_paused, is_blocked, state_entered_at,
      json_build_object('issueNumber', issue_number, 'title', title, 'padding', repeat('y', 300)), now()
    from issues`.execute(tx);
  await sql`
    insert into issue_counts (tenant_id, repo_id, state, is_paused, is_blocked, n, writes)
    select tenant_id, repo_id, state, is_paused, is_blocked, count(*), count(*) from issue_list
    group by 1, 2, 3, 4, 5`.execute(tx);
}

const TITLE = `(array['Fix the login of ','Speed up the export of ','A typo in ','Upgrade the driver of '])[1 + n % 4] || md5(n::text) || ' '`;
const STATE = `case when n % 100 = 1 then 'failure-blocked' when n % 100 < 5 then 'in-review' else 'done' end`;

async function addRecords(tx: Tx): Promise<void> {
  const when = sql`now() - make_interval(mins => ((i.id * 13 + n * 4001) % 40000)::int)`;
  await sql`
    insert into issue_events (tenant_id, issue_id, actor_type, status, state, created_at)
    select i.tenant_id, i.id, 'agent', 'working', 'planning', ${when}
    from issues i, generate_series(1, 4) n`.execute(tx);
  await sql`
    insert into transitions (tenant_id, repo_id, issue_id, from_state, to_state, trigger, actor_type, at, admitted_at,
      is_first)
    select i.tenant_id, i.repo_id, i.id, 'planning', case when n = 3 then 'done' else 'in-review' end, 'planned', 'agent',
      ${when}, i.created_at, false
    from issues i, generate_series(1, 3) n`.execute(tx);
  await sql`
    insert into runs (tenant_id, task_id, work_id, repo_id, issue_id, issue_number, task_type, attempt, agent, worker_id,
      claim_token_hash, status, claimed_at, finished_at, lease_expires_at, error_message, error_fingerprint, cost_usd)
    select i.tenant_id, gen_random_uuid(), gen_random_uuid(), i.repo_id, i.id, i.issue_number, 'develop', 0, 'developer',
      'w', i.id || '/' || n, 'finished', ${when}, ${when} + interval '5 min', now(),
      case when i.id % 10 = 0 then 'tests failed' end, case when i.id % 10 = 0 then 'a1b2c3d4e5f60718' end, 0.25
    from issues i, generate_series(1, 2) n`.execute(tx);
  await sql`
    insert into projections (tenant_id, repo_id, issue_id, issue_number, lane, action, status, max_attempts, client_type,
      idempotency_key)
    select i.tenant_id, i.repo_id, i.id, i.issue_number, 'talk', '{"type":"postComment"}', 'complete', 8, 'sandbox',
      i.id || '/' || n
    from issues i, generate_series(1, 2) n`.execute(tx);
  await sql`
    insert into artefacts (tenant_id, run_id, issue_id, kind, media_type, title, body)
    select tenant_id, id, issue_id, 'log', 'text/plain', 'Log', 'text' from runs`.execute(tx);
  await sql`
    insert into dead_letters (tenant_id, id, repo_id, issue_id, issue_number, target_state, error, cause, resolved_at)
    select tenant_id, gen_random_uuid(), repo_id, id, issue_number, 'done', 'no', '{}', now() from issues
    where issue_number % 10 = 0`.execute(tx);
  await sql`
    insert into cost_events (tenant_id, repo_id, issue_id, run_id, invocation_index, agent, model, amount_usd, created_at)
    select tenant_id, repo_id, issue_id, id, 0, agent, 'large', cost_usd, claimed_at from runs`.execute(tx);
}

/** Ends of issues and runs, and the KPIs of 400 days. */
async function addOutcomes(tx: Tx): Promise<void> {
  await sql`
    insert into pull_requests (tenant_id, repo_id, issue_id, number, title, body, url, head_ref, head_sha, base_ref, state,
      merged, merged_at, agent_authored, opened_at)
    select tenant_id, repo_id, id, 100000 + issue_number, '', '', '', 'svc/issue-' || issue_number, '', 'main', 'closed', true,
      now() - make_interval(mins => issue_number * 8), issue_number % 20 > 0,
      now() - make_interval(mins => issue_number * 8 + 90)
    from issues`.execute(tx);
  await sql`
    insert into agent_invocations (tenant_id, run_id, invocation_index, model, provider, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens, turns, cost_usd, stop_reason)
    select tenant_id, id, 0, 'large', 'p', 1, 1, 0, 0, 5, 0.25, 'completed' from runs`.execute(tx);
  await sql`
    insert into kpi_snapshots (tenant_id, repo_id, kpi, day, computed_at, value, sample_size, baseline_sample_size,
      regressed, magnitude, direction)
    select r.tenant_id, r.id, k, (now() at time zone 'UTC')::date - n, now() - make_interval(days => n), n, 9, 9, false,
      'low', 'rise'
    from repos r, generate_series(0, 399) n,
      unnest('{block_rate,failure_blocked_rate,mean_cost_usd,mean_turns,cycle_time_p50}'::text[]) k`.execute(tx);
}

/** Number of rows from which on a table counts as growing with history. */
const BIG = 20_000;

/**
 * The large tables that an operation scans sequentially, by the server's statistics, which include every executed
 * statement. A partition counts by its own name.
 */
export async function scannedBy(database: TestDatabase, work: (store: Store) => Promise<unknown>): Promise<string[]> {
  const store = database.open({ poolSize: 1 });
  try {
    const before = await scansOf(database);
    await work(store);
    await sql`select pg_stat_force_next_flush()`.execute(store.db);
    const after = await scansOf(database);
    return [...after].filter(([table, scans]) => scans > (before.get(table) ?? 0)).map(([table]) => table);
  } finally {
    await store.close();
  }
}

async function scansOf({ db }: TestDatabase): Promise<Map<string, number>> {
  const { rows } = await sql<{ table: string; scans: number }>`
    select s.relname as table, s.seq_scan as scans
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where c.reltuples > ${BIG}`.execute(db);
  return new Map(rows.map(({ table, scans }) => [table, scans]));
}
