import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_WORKFLOW, slaLimits } from '@pipeline/domain';
import { testDatabase } from '@pipeline/testing';
import { CompiledQuery, sql } from 'kysely';
import { type Db, inTransaction, seedWorkflow, shortestSla, slaBreaches } from '../../src/index.ts';
import { makeWorld, type World } from '../consistency-world.ts';

const database = testDatabase();
const worlds: World[] = [];

/** 40,000 issues: most are done, 760 entered their state a minute ago, 40 yesterday. */
beforeAll(async () => {
  for (let n = 1; n <= 10; n += 1) worlds.push(await makeWorld(database, `acme/shop-${n}`));
  for (const { tenantId, repo } of worlds) {
    await inTransaction(database.store.db, (tx) => seedWorkflow(tx, tenantId, repo.id, DEFAULT_WORKFLOW));
  }
  await sql`
    insert into issues (tenant_id, repo_id, issue_number, title, body, url, state, state_entered_at, host_created_at,
      host_updated_at)
    select r.tenant_id, r.id, n, 'An issue', repeat('x', 300), '', case when n % 50 = 0 then 'planning' else 'done' end,
      now() - case when n % 1000 = 0 then interval '1 day' else interval '1 minute' end, now(), now()
    from repos r, generate_series(1, 4000) n`.execute(database.db);
  await sql`vacuum analyze issues, repos, workflow_snapshots, alerts`.execute(database.db);
});

describe('with 40,000 issues', () => {
  test('reads only issues over the limit, by issues_standing', async () => {
    const shortest = (await shortestSla(database.store.db, slaLimits({}))) ?? 0;
    expect(shortest).toBe(60);
    const { sql: text, parameters } = slaBreaches(slaLimits({}), shortest, 500).compile(database.db);
    const { rows } = await database.db.executeQuery<{ 'QUERY PLAN': string }>(
      CompiledQuery.raw(`explain (analyze, buffers, timing off) ${text}`, [...parameters]),
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/issues_standing/);
    expect(plan).not.toMatch(/Seq Scan on issues\b/);
    const [total = ''] = plan.match(/Buffers: .*/) ?? [];
    const pages = [...total.matchAll(/(?:hit|read)=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
    expect(pages).toBeLessThan(800);
  });

  test('a transition changes the index only when the hour differs', async () => {
    const at = (minutes: number) =>
      sql`date_trunc('hour', now()) - interval '1 day' + make_interval(mins => ${minutes})`;
    const enter = (db: Db, minutes: number) =>
      sql`update issues set state = 'in-review', state_entered_at = ${at(minutes)}
        where repo_id = ${worlds[0]?.repo.id} and issue_number = 50`.execute(db);
    const hotUpdates = async (db: Db): Promise<number> => {
      const { rows } = await sql<{ n: number }>`
        select pg_stat_get_xact_tuples_hot_updated('issues'::regclass) as n`.execute(db);
      return rows[0]?.n ?? 0;
    };
    const hot = async (minutes: number) => {
      await enter(database.db, 0);
      return database.db.transaction().execute(async (tx) => {
        const before = await hotUpdates(tx);
        await enter(tx, minutes);
        return (await hotUpdates(tx)) - before;
      });
    };
    expect([await hot(59), await hot(61)]).toEqual([1, 0]);
  });
});
