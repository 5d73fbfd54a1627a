import { beforeAll, describe, expect, test } from '@jest/globals';
import { AGENT_OF } from '@pipeline/domain';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import {
  blockedIssues,
  claimsSince,
  countBlockedIssues,
  digestCounts,
  durationEstimates,
  kpiWeeks,
  latestKpis,
  recentErrors,
  repoFigures,
  reposDueForKpis,
  type Store,
  spentInDays,
  troublesOf,
} from '../../src/index.ts';
import { makeHistory, scannedBy } from './history.ts';

const database = testDatabase();
let repo: { tenantId: number; repoId: number };

beforeAll(async () => {
  await makeHistory(database);
  const { db } = database;
  await sql`
    insert into pull_requests (tenant_id, repo_id, issue_id, number, title, body, url, head_ref, head_sha, base_ref, state,
      merged, merged_at, agent_authored, opened_at)
    select tenant_id, repo_id, id, 100000 + issue_number, '', '', '', 'svc/issue-' || issue_number, '', 'main', 'closed', true,
      now() - make_interval(mins => issue_number * 8), issue_number % 20 > 0,
      now() - make_interval(mins => issue_number * 8 + 90)
    from issues`.execute(db);
  await sql`
    insert into agent_invocations (tenant_id, run_id, invocation_index, model, provider, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens, turns, cost_usd, stop_reason)
    select tenant_id, id, 0, 'large', 'p', 1, 1, 0, 0, 5, 0.25, 'completed' from runs`.execute(db);
  await sql`
    insert into kpi_snapshots (tenant_id, repo_id, kpi, day, computed_at, value, sample_size, baseline_sample_size,
      regressed, magnitude, direction)
    select r.tenant_id, r.id, k, (now() at time zone 'UTC')::date - n, now() - make_interval(days => n), n, 9, 9, false,
      'low', 'rise'
    from repos r, generate_series(0, 399) n,
      unnest('{block_rate,failure_blocked_rate,mean_cost_usd,mean_turns,cycle_time_p50}'::text[]) k`.execute(db);
  await sql`vacuum analyze pull_requests, agent_invocations, kpi_snapshots`.execute(db);
  const { rows } = await sql<typeof repo>`
    select tenant_id as "tenantId", id as "repoId" from repos order by id limit 1`.execute(db);
  if (!rows[0]) throw new Error('no repo');
  repo = rows[0];
}, 240_000);

const AGENTS = [...new Set(Object.values(AGENT_OF))];
const minuteAgo = () => new Date(Date.now() - 60_000).toISOString();
const dayStart = () => `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`;

describe('with 100,000 issues, 200,000 runs and as many costs', () => {
  test.each<[string, (store: Store) => Promise<unknown>]>([
    ['blocked issues', (store) => blockedIssues(store.fleet, 5_000)],
    ['how many there are', (store) => countBlockedIssues(store.fleet)],
    ['estimates', (store) => durationEstimates(store.fleet, [{ ...repo, agent: 'developer' }])],
    [
      'the figures of a repo over a week',
      (store) => repoFigures(store.tenant, repo, { windowDays: 7, dayStart: dayStart() }),
    ],
    ['over a month', (store) => repoFigures(store.tenant, repo, { windowDays: 30, dayStart: dayStart() })],
    ['its KPIs week by week', (store) => kpiWeeks(store.tenant, repo.tenantId, repo.repoId)],
    ['which repos are due', (store) => reposDueForKpis(store.fleet, 3_600_000, 20)],
    ['what the guard found', (store) => latestKpis(store.fleet)],
    ['issues of the digest', (store) => digestCounts(store.fleet)],
    ['errors of the digest', (store) => recentErrors(store.fleet, 50)],
    ['spending of a day', (store) => spentInDays(store.fleet, 1)],
    ['spending of a month', (store) => spentInDays(store.fleet, 30)],
    ['waits of new claims', (store) => claimsSince(store.fleet, { from: minuteAgo(), agents: AGENTS })],
    ['what went wrong in a repo', (store) => troublesOf(store.tenant, repo)],
  ])('%s: no table of the history is read from end to end', async (_what, read) => {
    expect(await scannedBy(database, read)).toEqual([]);
  });
});
