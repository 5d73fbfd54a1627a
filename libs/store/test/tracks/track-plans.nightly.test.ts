import { beforeAll, expect, test } from '@jest/globals';
import { DAY_MS } from '@pipeline/domain';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import {
  countOpenSiIssues,
  type Db,
  factsOfTask,
  inTransaction,
  lockTracksOfRepo,
  reposWithDueTracks,
  servedSince,
  settleSiIssue,
} from '../../src/index.ts';
import { makeWorld, type World } from '../consistency-world.ts';

const database = testDatabase();
let world: World;

const scope = () => ({ tenantId: world.tenantId, repoId: world.repo.id });
const at = (number: number) => ({ repoId: world.repo.id, number });

/** 500 repos with 5 tracks each, of which 5 are due; 200 issues of tracks in each repo, 5 of them open. */
beforeAll(async () => {
  world = await makeWorld(database, 'acme/shop');
  await sql`
    insert into repos (tenant_id, owner, name, slug_key, vcs_host, clone_url, enabled)
    select ${world.tenantId}, 'acme', 'r' || n, 'acme/r' || n, 'sandbox', '', true
    from generate_series(1, 499) n`.execute(database.db);
  await sql`
    insert into tracks (tenant_id, repo_id, name, enabled, cooldown_minutes, weight, active_version, latest_version, next_run_at)
    select r.tenant_id, r.id, 't' || n, true, 60, 1, 1, 1,
      now() + case when r.id % 100 = 0 and n = 1 then interval '-1 hour' else interval '1 hour' end
    from repos r, generate_series(1, 5) n`.execute(database.db);
  await sql`
    insert into track_prompts (tenant_id, track_id, version, seed_title, seed_body, instructions, notes)
    select tenant_id, id, 1, '', '', repeat('x', 500), '' from tracks`.execute(database.db);
  await sql`
    insert into si_issues (tenant_id, repo_id, issue_number, track_name, track_id, prompt_version, created_at, completed_at)
    select t.tenant_id, t.repo_id, t.id * 40 + n, t.name, t.id, 1, now() - n * interval '1 day',
      case when n > 1 then now() end
    from tracks t, generate_series(1, 40) n`.execute(database.db);
  await sql`
    insert into issue_edges (tenant_id, kind, child_repo_id, child_issue_number, parent_repo_id, parent_issue_number)
    select r.tenant_id, 'subtask', r.id, n, r.id, n / 10 from repos r, generate_series(1, 50) n`.execute(database.db);
  await sql`vacuum analyze repos, tracks, track_prompts, si_issues, issue_edges`.execute(database.db);
  // Flushes the statistics of these reads now, and not in the middle of a test.
  await sql`select pg_stat_force_next_flush()`.execute(database.db);
});

/** Pages of tables and indexes that a statement of the store touched, in the second of two runs. */
async function pages(statement: (db: Db) => Promise<unknown>): Promise<number> {
  const looked = async () => {
    const { rows } = await sql<{ n: number }>`
      select (sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0)))::integer as n
      from pg_statio_user_tables where relname in ('repos', 'tracks', 'track_prompts', 'si_issues', 'issue_edges')`.execute(
      database.db,
    );
    return rows[0]?.n ?? 0;
  };
  await statement(database.store.db);
  const flush = async () => {
    await sql`select pg_stat_force_next_flush()`.execute(database.store.db);
    await sql`select 1`.execute(database.store.db);
  };
  await flush();
  const before = await looked();
  await statement(database.store.db);
  await flush();
  return (await looked()) - before;
}

/** The payload of a task; its other reads are of other tables. */
const payloadAt = (db: Db, number: number) =>
  inTransaction(db, (tx) =>
    factsOfTask(tx, { ...at(number), tenantId: world.tenantId, issueId: 0, taskType: 'analyze' }),
  );

test.each<[string, number, (db: Db) => Promise<unknown>]>([
  ['the scheduler looks for what is due', 120, reposWithDueTracks],
  ['it holds the tracks of a repo', 60, (db) => inTransaction(db, (tx) => lockTracksOfRepo(tx, scope()))],
  ['it counts who takes places', 20, (db) => countOpenSiIssues(db, world.tenantId, world.repo.id)],
  ['it counts who was served in 30 days', 300, (db) => servedSince(db, scope(), 30 * DAY_MS)],
  ['a claim asks for the prompt of an issue of a track', 60, (db) => payloadAt(db, 41)],
  ['a claim asks for that of any other issue', 40, (db) => payloadAt(db, 9)],
  ['an issue ends', 20, (db) => inTransaction(db, (tx) => settleSiIssue(tx, world.tenantId, at(9), true))],
])('%s: at most %i pages of 2,500 tracks and 100,000 of their issues', async (_what, most, statement) => {
  expect(await pages(statement)).toBeLessThanOrEqual(most);
});
