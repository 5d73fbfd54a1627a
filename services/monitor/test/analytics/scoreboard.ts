import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { clearHistory, simulateHistory } from '@pipeline/testing/history';
import { differences, ofRepos, readRows, scoreboardOf } from '@pipeline/testing/oracle';
import { sql } from 'kysely';
import { engineOn } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('the scoreboard of agents', () => {
  const END = new Date('2026-03-10T12:34:56.789Z');
  let call: Call;
  let close: () => Promise<void>;

  beforeAll(async () => {
    database.clock.now = END;
    ({ call, close } = await serveConnected({ engine: engineOn(database.store) }));
  });
  afterAll(() => close());
  afterEach(() => clearHistory(database.db));

  const scoreboard = (query: string) => call('GET', `/api/agents/scoreboard?${query}`);
  const run = (statement: string) => sql.raw(statement).execute(database.db);

  /** Late reverts, failed checks, checks of two heads in three, runs without calls, and calls without a cost. */
  async function vary(): Promise<void> {
    await run(`update transitions set trigger = 'checks-failed' where trigger = 'conflict' and issue_id % 2 = 0`);
    await run(`insert into commit_checks (tenant_id, repo_id, sha, kind, name, state, host_id, reported_at)
    select tenant_id, repo_id, head_sha, 'check-run', name, 'success', 1, merged_at
    from pull_requests, unnest(array['build', 'test']) name where merged and number % 3 > 0`);
    await run(`update pull_requests v set merged_at = v.merged_at + interval '15 days' from pull_requests p
    where p.repo_id = v.repo_id and p.reverted_by = v.number and v.number % 2 = 0`);
    await run(`delete from agent_invocations where run_id % 11 = 0`);
    await run(`update runs r set cost_usd = coalesce((select sum(cost_usd) from agent_invocations i
    where i.tenant_id = r.tenant_id and i.run_id = r.id), 0)`);
  }

  test('agrees with the rows for all windows, tasks, tenants and repos', async () => {
    const size = { tenants: 2, repos: 4, days: 60, issues: 600, end: END };
    const history = await simulateHistory(database.db, { ...size, seed: 7 });
    await vary();
    const all = await readRows(database.db);
    const [repo] = history.repos;
    const own = history.repos.filter(({ tenant }) => tenant === 'tenant-2').map(({ id }) => id);
    const scopes = [
      ['', all],
      ['&tenant=tenant-2', ofRepos(all, own)],
      [`&repo=${repo?.slug}&tenant=${repo?.tenant}`, ofRepos(all, [repo?.id ?? 0])],
    ] as const;
    const questions = scopes.flatMap(([whose, rows]) =>
      ['1h', '48h', '75h', '7d', '23d', '90d', '999d'].flatMap((window) =>
        (['all', 'compared'] as const).map((tasks) => ({ window, tasks, whose, rows })),
      ),
    );
    const seen: ReturnType<typeof scoreboardOf>['items'] = [];
    for (const { window, tasks, whose, rows } of questions) {
      const wanted = scoreboardOf(rows, { window, tasks }, END.getTime());
      const { json } = await scoreboard(`window=${window}&tasks=${tasks}${whose}`);
      expect([window, tasks, whose, differences(json, wanted).different]).toEqual([window, tasks, whose, []]);
      seen.push(...wanted.items);
    }
    // The history has every figure, and each that can be missing or 0 also without a value.
    for (const name of ['agent', 'model', 'firstPassCiPct', 'reverts', 'costPerMergeUsd', 'unreportedCosts'] as const)
      expect([name, seen.some((item) => item[name]), seen.some((item) => !item[name])]).toEqual([name, true, true]);
    for (const name of ['firstPassReviewPct', 'firstPassCiPct'] as const)
      expect(seen.some((item) => (item[name] ?? 0) > 0 && (item[name] ?? 0) < 100)).toBe(true);
  });

  describe('the request', () => {
    test('answers without entries when nothing was merged', async () => {
      expect((await scoreboard('')).json).toEqual({
        window: '30d',
        tasks: 'all',
        items: [],
        serverTimestamp: expect.any(String),
      });
    });

    test.each([
      ['window=1y', 400, 'INVALID_INPUT', /must be hours or days, such as 48h or 90d/],
      ['window=0h', 400, 'INVALID_INPUT', /must be hours or days/],
      ['window=1000d', 400, 'INVALID_INPUT', /at most 9999h or 999d/],
      ['window=030d', 400, 'INVALID_INPUT', /must be hours or days/],
      ['tasks=none', 400, 'INVALID_INPUT', /must be one of all, compared/],
      ['repo=shop', 400, 'INVALID_INPUT', /owner\/name/],
      ['tenant=nobody', 404, 'NOT_FOUND', /Tenant not found: nobody/],
      ['repo=no/such', 404, 'NOT_FOUND', /./],
    ])('refuses the request for %s', async (query, status, code, error) => {
      const answer = await scoreboard(query);
      expect(answer).toMatchObject({ status, json: { code, error: expect.stringMatching(error) } });
    });
  });

  afterAll(() => database.clear());
});
