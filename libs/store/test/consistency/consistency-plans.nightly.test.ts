import { beforeAll, describe, expect, test } from '@jest/globals';
import type { StoredConsistencyKind } from '@pipeline/domain';
import { testDatabase } from '@pipeline/testing';
import { CompiledQuery, sql } from 'kysely';
import { detectStatement, type Scope } from '../../src/index.ts';
import { makeWorld, type World } from '../consistency-world.ts';

const database = testDatabase();
const REPOS = 20;
const KINDS = [
  'stale_blocked',
  'stale_subtask_edge',
  'si_linkage_gap',
  'label_drift',
  'orphan_dependency_edge',
] as const satisfies StoredConsistencyKind[];
const worlds: World[] = [];

/** A long history: of every hundred issues 98 are done, one is blocked and one is in progress. */
beforeAll(async () => {
  for (let n = 1; n <= REPOS; n += 1) worlds.push(await makeWorld(database, `acme/shop-${n}`));
  const repos = sql`(select tenant_id, id from repos) r`;
  await sql`
    insert into issues (tenant_id, repo_id, issue_number, title, body, url, labels, state, is_blocked, host_created_at,
      host_updated_at)
    select r.tenant_id, r.id, n, 'An issue', repeat('x', 500), '', array['svc:' || s.state], s.state, n % 100 = 0,
      now(), now()
    from ${repos}, generate_series(1, 2400) n,
      lateral (select case n % 100 when 0 then 'failure-blocked' when 1 then 'planning' else 'done' end) s (state)
    order by n`.execute(database.db);
  await sql`
    insert into issue_edges (tenant_id, kind, active, child_repo_id, child_issue_number, parent_repo_id,
      parent_issue_number)
    select r.tenant_id, case when n % 2 = 0 then 'subtask' else 'depends_on' end, n % 100 < 2, r.id, n, r.id, n + 1
    from ${repos}, generate_series(1, 2399, 3) n`.execute(database.db);
  await sql`
    insert into si_issues (tenant_id, repo_id, issue_number, track_name, completed_at)
    select r.tenant_id, r.id, n, 'docs', case when n % 100 > 1 then now() end
    from ${repos}, generate_series(1, 2400, 3) n`.execute(database.db);
  await sql`vacuum analyze issues, issue_edges, si_issues, projections, repos, tenants`.execute(database.db);
});

async function explain(kind: StoredConsistencyKind, scope: Scope): Promise<string> {
  const { sql: text, parameters } = detectStatement(kind, scope, 10_000).compile(database.db);
  const { rows } = await database.db.executeQuery<{ 'QUERY PLAN': string }>(
    CompiledQuery.raw(`explain (analyze, buffers, timing off) ${text}`, [...parameters]),
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** Every access path to issues in the plan. */
const readsOfIssues = (plan: string) => [...plan.matchAll(/(\w[\w ]*?)(?: using (\w+))? on issues\b/g)];
/** Pages that the whole statement touched: unlike the time, they do not depend on the load of the machine. */
function pages(plan: string): number {
  const [total = ''] = plan.match(/Buffers: .*/) ?? [];
  return [...total.matchAll(/(?:hit|read)=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
}

describe('with 48,000 issues, 98 % of them done', () => {
  test.each([
    ['stale_blocked', 'issues_blocked'],
    ['label_drift', 'issues_open'],
  ] as const)('%s reads the issues that may be wrong, by %s', async (kind, index) => {
    const plan = await explain(kind, 'all');
    expect(plan).toContain(`${index} on issues`);
  });

  test.each([
    ['stale_subtask_edge', 'issue_edges_of_parent'],
    ['si_linkage_gap', 'si_issues_open'],
  ] as const)('%s starts from what is still open, by %s', async (kind, index) => {
    expect(await explain(kind, 'all')).toContain(index);
  });

  test.each(KINDS)('%s never scans all issues, for any scope', async (kind) => {
    const { scope } = worlds[3] as World;
    for (const where of ['all', scope, { ...scope, issueNumber: 1_200 }] as const) {
      const plan = await explain(kind, where);
      expect(readsOfIssues(plan).length).toBeGreaterThan(0);
      expect(plan).not.toMatch(/(Seq|Bitmap Heap) Scan on issues\b/);
    }
  });

  test.each(KINDS)('%s of one issue reads some pages, of one repo its share', async (kind) => {
    const { scope } = worlds[3] as World;
    const [one, repo, all] = await Promise.all(
      [{ ...scope, issueNumber: 1_200 }, scope, 'all' as const].map(async (where) => pages(await explain(kind, where))),
    );
    expect(one).toBeLessThan(40);
    expect(repo).toBeLessThan(((all ?? 0) / REPOS) * 3);
  });

  test('a transition between open states changes no index', async () => {
    const updates = sql<{ all: number; hot: number }>`
      select pg_stat_get_xact_tuples_updated('issues'::regclass) as all,
        pg_stat_get_xact_tuples_hot_updated('issues'::regclass) as hot`;
    const place = sql`repo_id = ${worlds[0]?.repo.id} and issue_number = 2400`;
    await database.db.transaction().execute(async (tx) => {
      await sql`update issues set state = 'analyzing', labels = '{svc:analyzing}' where ${place}`.execute(tx);
      expect((await updates.execute(tx)).rows).toEqual([{ all: 1, hot: 1 }]);
    });
  });
});
