import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { type ConsistencyCache, consistencyCache } from '../../src/consistency/consistency-cache.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp, serveConnected } from '../support/served-app.ts';

const database = testDatabase();
const LOOKED = new Date('2026-05-06T07:08:09.000Z');
const PATHS = ['/api/pipeline/consistency', '/pipeline/consistency'];
const NONE = {
  stale_blocked: 0,
  stale_subtask_edge: 0,
  orphan_missing_from_pg: 0,
  si_linkage_gap: 0,
  label_drift: 0,
  orphan_dependency_edge: 0,
};

let bench: Bench;
let consistency: ConsistencyCache;
let call: Call;
let close: () => Promise<void>;

beforeAll(async () => {
  bench = await makeBench(database.store, 'Acme/Shop');
  consistency = consistencyCache(bench.engine, null, () => LOOKED);
  ({ call, close } = await serveConnected({ engine: bench.engine, consistency }));
});
afterAll(() => close());

test('before the first look nothing is counted, and it says so', async () => {
  for (const path of PATHS) {
    expect((await call('GET', path)).json).toEqual({ total: 0, byKind: NONE, computedAt: null });
  }
});

test('findings are counted by kind', async () => {
  for (const number of [1, 2]) await admit(bench, number);
  await sql`update issues set is_blocked = true, state = 'failure-blocked' where issue_number = 1`.execute(database.db);
  await sql`
    insert into issue_edges (tenant_id, kind, child_repo_id, child_issue_number, parent_repo_id, parent_issue_number)
    values (${bench.tenantId}, 'depends_on', ${bench.repo.id}, 2, ${bench.repo.id}, 99)`.execute(database.db);
  await sql`update projections set status = 'complete'`.execute(database.db);
  await consistency.refresh();
  for (const path of PATHS) {
    expect((await call('GET', path)).json).toEqual({
      total: 3,
      byKind: { ...NONE, stale_blocked: 1, label_drift: 1, orphan_dependency_edge: 1 },
      computedAt: LOOKED.toISOString(),
    });
  }
});

test.each(PATHS)('%s asks for credentials, and for a store', async (path) => {
  expect((await call('GET', path, { headers: {} })).json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
  const bare = await serveApp();
  const { json } = await bare.call('GET', path);
  await bare.close();
  expect(json).toMatchObject({ status: 503, code: 'STORE_UNAVAILABLE' });
});
