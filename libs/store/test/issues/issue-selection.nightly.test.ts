import { beforeAll, describe, expect, test } from '@jest/globals';
import { ERROR_CLASSES, type IssueCriteria, meets, STATES } from '@pipeline/domain';
import { testDatabase } from '@pipeline/testing';
import fc from 'fast-check';
import { CompiledQuery, sql } from 'kysely';
import { countIssues, filteredOf, type IssueSelection, selectIssues, selectionStatement } from '../../src/index.ts';
import { makeWorld } from '../consistency-world.ts';

const database = testDatabase();
const REPOS = 10;
const PRINT = (n: number) => `${n}`.padStart(16, '0');
let scope: { tenantId: number; repoId: number };

/** 40,000 issues: of every hundred 96 are done, two are blocked, one is paused and one is worked on. */
beforeAll(async () => {
  for (let n = 1; n <= REPOS; n += 1) {
    const world = await makeWorld(database, `acme/shop-${n}`);
    if (n === 4) scope = { tenantId: world.scope.tenantId, repoId: world.scope.repoId };
  }
  await sql`
    insert into issues (tenant_id, repo_id, issue_number, title, body, url, labels, state, is_blocked, is_paused,
      block_reason, block_classification, error_fingerprint, last_error, host_created_at, host_updated_at)
    select r.tenant_id, r.id, n, 'An issue', repeat('x', 300), '', case when n % 300 = 0 then array['bug'] else '{}' end,
      case when n % 100 < 2 then 'failure-blocked' when n % 100 < 4 then 'planning' else 'done' end,
      n % 100 < 2, n % 100 = 2, case when n % 100 = 0 then 'ci_hard_failure' when n % 100 = 1 then 'max_turns' end,
      case when n % 100 = 0 then 'transient' when n % 100 = 1 then 'unknown' end,
      case when n % 3 = 0 then lpad((n % 1000)::text, 16, '0') end, case when n % 3 = 0 then 'failed' end, now(), now()
    from repos r, generate_series(1, 4000) n`.execute(database.db);
  await sql`vacuum analyze issues, repos, tenants`.execute(database.db);
});

const all = (criteria: IssueCriteria): IssueSelection => ({ criteria, scope: 'all', after: null });

async function explain(selection: IssueSelection): Promise<string> {
  const { sql: text, parameters } = selectionStatement(selection, 501).compile(database.db);
  const { rows } = await database.db.executeQuery<{ 'QUERY PLAN': string }>(
    CompiledQuery.raw(`explain (analyze, buffers, timing off) ${text}`, [...parameters]),
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

describe('with 40,000 issues, 96 % of them done', () => {
  test.each<[string, IssueCriteria, RegExp]>([
    ['a label', { label: 'bug' }, /issues_open|issues_blocked/],
    ['a state', { states: ['failure-blocked'] }, /issues_open/],
    ['paused ones', { isPaused: true }, /issues_open/],
    ['blocked ones', { isBlocked: true, blockReason: 'ci_hard_failure' }, /issues_blocked|issues_open/],
    ['an error', { fingerprints: [PRINT(300)] }, /issues_of_error/],
  ])('%s: over all repos no scan of all issues', async (_what, criteria, index) => {
    const plan = await explain(all(criteria));
    expect(plan).toMatch(index);
    expect(plan).not.toContain('Seq Scan on issues');
  });

  test('numbers of one repo are looked up', async () => {
    const plan = await explain({ criteria: { issueNumbers: [7, 300, 301] }, scope, after: null });
    expect(plan).not.toContain('Seq Scan on issues');
  });
});

test('pages continue across repos where the last one ended, and the count stops at its maximum', async () => {
  const selection = all({ isBlocked: true });
  const whole = await selectIssues(database.store.db, selection, 10_000);
  expect(whole).toHaveLength(800);
  const seen: number[] = [];
  for (let after: IssueSelection['after'] = null; ; ) {
    const page = await selectIssues(database.store.db, { ...selection, after }, 700);
    seen.push(...page.map(({ issueId }) => issueId));
    const last = page.at(-1);
    if (!last) break;
    after = last;
  }
  expect(seen).toEqual(whole.map(({ issueId }) => issueId));
  expect(await countIssues(database.store.db, selection, 10_000)).toBe(800);
  expect(await countIssues(database.store.db, selection, 500)).toBe(500);
});

test('omits a disabled repo', async () => {
  const { repoId } = scope;
  await database.db.updateTable('repos').set({ enabled: false }).where('id', '=', repoId).execute();
  const found = await selectIssues(database.store.db, all({ isBlocked: true }), 10_000);
  await database.db.updateTable('repos').set({ enabled: true }).where('id', '=', repoId).execute();
  expect(found.some((issue) => issue.repoId === repoId)).toBe(false);
});

test("selects the same issues as the domain's rule", async () => {
  const rows = await database.db
    .selectFrom('issues')
    .selectAll()
    .where('tenant_id', '=', scope.tenantId)
    .where('repo_id', '=', scope.repoId)
    .where('issue_number', '<=', 700)
    .execute();
  const issues = rows.map(filteredOf);
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
  const criteria = fc.record({
    states: maybe(fc.uniqueArray(fc.constantFrom(...STATES), { minLength: 1 })),
    isPaused: maybe(fc.boolean()),
    isBlocked: maybe(fc.boolean()),
    blockReason: maybe(fc.constantFrom('ci_hard_failure', 'max_turns')),
    blockClassification: maybe(fc.constantFrom(...ERROR_CLASSES)),
    fingerprints: maybe(fc.uniqueArray(fc.constantFrom(PRINT(300), PRINT(3), PRINT(201)))),
    label: maybe(fc.constant('bug')),
  });
  await fc.assert(
    fc.asyncProperty(criteria, async (given) => {
      const wanted = { ...given, issueNumbers: issues.map(({ number }) => number) };
      const found = await selectIssues(database.store.db, { criteria: wanted, scope, after: null }, 1_000);
      const expected = issues.filter((issue) => meets(issue, wanted)).map(({ number }) => number);
      expect(found.map(({ number }) => number)).toEqual(expected.sort((a, b) => a - b));
    }),
    { numRuns: 60 },
  );
});
