import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type readDigest, watchKpis } from '@pipeline/engine';
import { simulateHistory } from '@pipeline/testing/history';
import { sql } from 'kysely';
import { type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('the digest of the API', () => {
  const NOW = new Date('2026-06-17T12:00:00.000Z');

  let bench: Bench;
  let call: Call;
  let close: () => Promise<void>;

  const digest = async () => {
    const { json } = await call('GET', '/api/digest');
    return (json as { digest: Awaited<ReturnType<typeof readDigest>> }).digest;
  };
  const rows = async <T>(statement: string) => (await sql.raw<T>(statement).execute(database.db)).rows;

  describe('of an empty pipeline', () => {
    beforeAll(async () => {
      database.clock.now = NOW;
      bench = await makeBench(database.store, 'Acme/Shop');
      ({ call, close } = await serveConnected({ engine: bench.engine }));
    });

    test('there is nothing to count, and no cost is known', async () => {
      expect(await digest()).toEqual({
        date: '2026-06-17',
        pipelineByState: {},
        blockedCount: 0,
        recentErrors: [],
        dailyCostUsd: null,
        monthlyCostUsd: null,
        topRegressedKpis: [],
      });
    });
  });

  describe('of a past', () => {
    beforeAll(async () => {
      await simulateHistory(database.db, { tenants: 2, repos: 5, days: 40, issues: 500, seed: 9, end: NOW });
      while ((await watchKpis(bench.engine)).more);
    });
    afterAll(() => close());

    test('issues are counted by state and repo, and the blocked ones', async () => {
      const expected = await rows<{ key: string; n: number }>(`
      select i.state || ':' || r.owner || '/' || r.name || case when (
          select count(*) from repos s where s.enabled and s.slug_key = r.slug_key) > 1 then '@' || t.external_id else '' end as key,
        count(*) as n
      from issues i join repos r on r.id = i.repo_id join tenants t on t.id = r.tenant_id where r.enabled group by 1`);
      const { pipelineByState, blockedCount } = await digest();
      expect(pipelineByState).toEqual(Object.fromEntries(expected.map(({ key, n }) => [key, n])));
      expect(Object.keys(pipelineByState).some((key) => key.includes('@'))).toBe(true);
      const [blocked] = await rows<{ n: number }>(
        `select count(*) as n from issues i join repos r on r.id = i.repo_id where r.enabled and is_blocked and state <> 'done'`,
      );
      expect([blockedCount, blockedCount > 0]).toEqual([blocked?.n, true]);
    });

    test('errors of a day by fingerprint, the most frequent first, with the newest message', async () => {
      const expected = await rows<{ fingerprint: string; count: number }>(`
      select error_fingerprint as fingerprint, count(*) as count from runs
      where error_message is not null and finished_at > '${NOW.toISOString()}'::timestamptz - interval '24 hours'
      group by 1 order by 2 desc, 1`);
      const { recentErrors } = await digest();
      expect(recentErrors.map(({ fingerprint, count }) => ({ fingerprint, count }))).toEqual(expected);
      expect(recentErrors.length).toBeGreaterThan(1);
      const [first] = recentErrors;
      const [newest] = await rows<{ error_message: string }>(
        `select error_message from runs where error_fingerprint = '${first?.fingerprint}' order by finished_at desc limit 1`,
      );
      expect(first?.message).toBe(newest?.error_message);
    });

    test.each([
      ['dailyCostUsd', 1],
      ['monthlyCostUsd', 30],
    ] as const)('%s is the sum of the cost events of %i days', async (field, days) => {
      const [sum] = await rows<{ usd: number }>(`
      select round(sum(amount_usd), 4) as usd from cost_events
      where created_at >= '${NOW.toISOString()}'::timestamptz - interval '${days} days'`);
      expect((await digest())[field]).toBe(sum?.usd);
    });

    test('lists regressions, the largest magnitude first, with what went wrong in its repo in 7 days', async () => {
      await sql`
      update kpi_snapshots set regressed = kpi in ('block_rate', 'mean_turns'), relative_delta = 0.3,
        magnitude = case when kpi = 'block_rate' then 'medium' else 'large' end,
        sample_size = 7, baseline_sample_size = 9`.execute(database.db);
      const { topRegressedKpis } = await digest();
      expect(topRegressedKpis).toHaveLength(10);
      expect(topRegressedKpis.map(({ magnitude }) => magnitude)).toEqual([
        ...Array<string>(6).fill('large'),
        ...Array<string>(4).fill('medium'),
      ]);
      const busy = topRegressedKpis.find(({ topBlockReasons }) => topBlockReasons.length > 1);
      if (!busy) throw new Error('no repo had blocks');
      const ofRepo = `repo_id in (select id from repos where owner = '${busy.owner}' and name = '${busy.repo}')
      and tenant_id = (select max(tenant_id) from repos where owner = '${busy.owner}' and name = '${busy.repo}')`;
      const since = `'${NOW.toISOString()}'::timestamptz - interval '7 days'`;
      const all = topRegressedKpis.filter(({ owner, repo }) => owner === busy.owner && repo === busy.repo);
      const reasons = await rows(`
      select payload->>'blockReason' as "blockReason", count(*) as count from pipeline_events
      where event_type = 'issue_blocked' and created_at >= ${since} and ${ofRepo} group by 1 order by 2 desc, 1 limit 5`);
      const failures = await rows(`
      select error_fingerprint as fingerprint, count(*) as count from runs
      where error_message is not null and finished_at >= ${since} and ${ofRepo} group by 1 order by 2 desc, 1 limit 5`);
      expect(all.map(({ topBlockReasons }) => topBlockReasons)).toContainEqual(reasons);
      expect(all.map(({ topFingerprints }) => topFingerprints)).toContainEqual(failures);
      expect(busy).toMatchObject({ currentSampleSize: 7, baselineSampleSize: 9 });
    });

    test('a failure of the store is a 500 without internals', async () => {
      await sql`alter table kpi_snapshots rename to kpi_snapshots_gone`.execute(database.db);
      const { json } = await call('GET', '/api/digest');
      await sql`alter table kpi_snapshots_gone rename to kpi_snapshots`.execute(database.db);
      expect(json).toEqual({ error: 'Internal server error', code: 'INTERNAL_ERROR', status: 500 });
    });

    test('it asks for credentials, and for a store', async () => {
      const { json } = await call('GET', '/api/digest', { headers: {} });
      expect(json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
      const bare = await serveApp();
      const answer = await bare.call('GET', '/api/digest');
      await bare.close();
      expect(answer.json).toMatchObject({ status: 503, code: 'STORE_UNAVAILABLE' });
    });
  });

  afterAll(() => database.clear());
});
