import { SPINE, STATES } from '@pipeline/domain';
import { closeFacts, openStore, type Store } from '@pipeline/store';
import pg from 'pg';
import type { Bench } from '../../runner/model.ts';

const TENANTS = 20;
const REPOS = 200;
const DAYS = 7;
/** Moves of an issue that gets through. */
const MOVES = SPINE.length - 1;

/** A week of a busy deployment: moves of issues over 200 repos, by the tables of the service and by a plain one. */
export interface Week {
  store: Store;
  admin: pg.Pool;
  /** Numbers of a repo and its tenant. */
  repo: { tenantId: number; repoId: number };
  moves: number;
  now: Date;
}

/** Weeks that this run has made, by the name of their database: ten million moves take half an hour. */
const made = new Map<string, { url: string; now: Date }>();

/**
 * Opens a week of this size, which the first row that asks makes: the rows in the server, then the sums by the service's
 * own loop. Beside them `plain_moves` holds the same moves with the indexes that plain queries want.
 */
export async function makeWeek(bench: Bench, moves: number): Promise<Week> {
  const name = `bench_week_${moves}`;
  const { url, now } = made.get(name) ?? { url: await bench.server.pipelineDatabase(name), now: new Date() };
  const onConnectionError = (error: Error) => bench.say(`connection to ${name}: ${error.message}`);
  const options = { databaseUrl: url, applicationName: 'bench', poolSize: 8, onConnectionError };
  const store = openStore({ ...options, statementTimeoutMs: 600_000, idleInTransactionMs: 600_000 });
  bench.stack.add(`store ${name}`, () => store.close());
  const admin = new pg.Pool({ connectionString: url, max: 1, options: '-c search_path=pipeline,public' });
  bench.stack.add(`admin connection ${name}`, () => admin.end());
  if (!made.has(name)) {
    bench.say(`making ${moves.toLocaleString('en-US')} moves`);
    await fill({ store, admin, moves, now });
    made.set(name, { url, now });
  }
  const { rows } = await admin.query<{ tenantId: number; repoId: number; moves: number }>(
    `select tenant_id::int as "tenantId", id::int as "repoId", (select count(*)::int from transitions) as moves
     from repos order by id limit 1`,
  );
  const [first] = rows;
  if (!first) throw new Error('no repo was made');
  return { store, admin, repo: first, moves: first.moves, now };
}

async function fill({ store, admin, moves, now }: Omit<Week, 'repo'>): Promise<void> {
  for (const [text, values] of statements(Math.ceil(moves / MOVES), now)) await admin.query(text, values);
  await admin.query('vacuum analyze');
  while (await closeFacts(store.db));
  await admin.query('vacuum analyze');
}

/** Issues enter evenly over the week; each moves on after ten minutes to four hours, and stops where the week ends. */
function statements(issues: number, now: Date): [string, unknown[]][] {
  const states = `'{${SPINE.join(',')}}'::text[]`;
  const bits = SPINE.map((state) => 1 << STATES.indexOf(state));
  const end = now.toISOString();
  return [
    ['set session_replication_role = replica', []],
    [
      `insert into tenants (external_id, name) select 'tenant-' || n, 'tenant-' || n from generate_series(1, ${TENANTS}) n`,
      [],
    ],
    [
      `insert into repos (tenant_id, owner, name, slug_key, vcs_host, clone_url, enabled)
       select 1 + n % ${TENANTS}, 'bench', 'repo-' || n, 'bench/repo-' || n, 'sandbox', '', true
       from generate_series(1, ${REPOS}) n`,
      [],
    ],
    [
      `create table walks as
       select n as id, r.tenant_id, r.id as repo_id, 1 + n / ${REPOS} as number,
         date_trunc('milliseconds', $1::timestamptz - random() * interval '${DAYS} days') as entered,
         10 * 60000 + floor(random() * random() * 230 * 60000)::bigint as gap
       from generate_series(1, $2::int) n join repos r on r.id = 1 + n % ${REPOS}`,
      [end, issues],
    ],
    [
      `insert into issues (tenant_id, id, repo_id, issue_number, title, body, url, state, state_entered_at, reached_states,
         host_created_at, host_updated_at, created_at)
       select w.tenant_id, w.id, w.repo_id, w.number, 'Issue', '', '', (${states})[1 + s.moves], w.entered + s.moves * w.gap * interval '1 ms',
         (select sum(b) from unnest('{${bits.join(',')}}'::int[]) with ordinality x (b, place) where place <= 1 + s.moves), w.entered, w.entered, w.entered
       from walks w cross join lateral (
         select least(${MOVES}, floor(extract(epoch from $1::timestamptz - w.entered) * 1000 / w.gap))::int as moves) s`,
      [end],
    ],
    [
      `insert into transitions (tenant_id, repo_id, issue_id, from_state, to_state, trigger, actor_type, duration_in_from_ms, at,
         admitted_at, is_first)
       select w.tenant_id, w.repo_id, w.id, (${states})[k], (${states})[k + 1], 'admitted', 'workflow-engine', w.gap,
         w.entered + k * w.gap * interval '1 ms', w.entered, true
       from walks w cross join generate_series(1, ${MOVES}) k
       where w.entered + k * w.gap * interval '1 ms' < $1::timestamptz order by w.entered + k * w.gap * interval '1 ms'`,
      [end],
    ],
    [
      `insert into pipeline_events (tenant_id, created_at, repo_id, issue_id, issue_number, event_type, agent, payload)
       select tenant_id, at, repo_id, issue_id, 1, case when id % 10000 = 0 then 'operator_action' else 'state_transition' end,
         'workflow-engine', '{}' from transitions`,
      [],
    ],
    [
      `insert into issue_counts (tenant_id, repo_id, state, is_paused, is_blocked, n, writes)
       select tenant_id, repo_id, state, false, false, count(*), 1 from issues group by 1, 2, 3`,
      [],
    ],
    [
      `create table plain_moves as select repo_id, issue_id, from_state, to_state, duration_in_from_ms as ms, at from transitions`,
      [],
    ],
    ['create table plain_issues as select id, repo_id, state, created_at from issues', []],
    ['create index on plain_moves (repo_id, at)', []],
    ['create index on plain_moves (at) include (from_state, to_state)', []],
    ['create index on plain_moves (issue_id, at) include (from_state, to_state, ms)', []],
    [`create index on plain_moves (at) where to_state = 'done'`, []],
    ['create index on plain_issues (created_at) include (id)', []],
    ['set session_replication_role = default', []],
  ];
}
