import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { STATUS_OF } from '@pipeline/contract';
import { CONSISTENCY_KINDS, type ConsistencyFinding, type HostIssue, type VcsHost } from '@pipeline/domain';
import { type HostOf, OrphanWatch } from '@pipeline/engine';
import { createMetrics } from '@pipeline/runtime';
import { findIssue, type Store } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import {
  type ConsistencyCache,
  consistencyCache,
  registerConsistencyGauge,
} from '../../src/consistency/consistency-cache.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { FINDING_AT, writeContradictions } from '../support/contradictions.ts';
import { type Answer, type Call, serveApp, serveConnected } from '../support/served-app.ts';

const database = testDatabase();

describe('findings of consistency', () => {
  const POLLED = new Date('2026-01-02T03:04:05.678Z');
  const REPAIRS = [
    ['clear-flag', 'stale_blocked'],
    ['resolve-subtask-edges', 'stale_subtask_edge'],
    ['enqueue-orphan', 'orphan_missing_from_pg'],
    ['link-si', 'si_linkage_gap'],
    ['delete-orphan-edges', 'orphan_dependency_edge'],
  ] as const;

  let bench: Bench;
  let findings: ConsistencyCache;
  let call: Call;
  let close: () => Promise<void>;
  let run = 0;
  /** Open issues of the host. */
  let onHost: Map<number, HostIssue>;
  let hostOf: HostOf;

  async function serve(store: Store) {
    const engine = { ...bench.engine, store };
    const host = {
      getIssue: async (_repo, number) => onHost.get(number) ?? null,
      listIssues: async () => ({ issues: [...onHost.values()], changedPullRequests: [], etag: null }),
    } as Partial<VcsHost> as VcsHost;
    hostOf = (repo) => (repo.id === bench.repo.id ? host : null);
    const orphans = new OrphanWatch({ engine, hostOf: (repo) => hostOf(repo), onError: () => undefined });
    if (store === database.store) await orphans.check();
    findings = consistencyCache(engine, orphans, () => POLLED);
    ({ call, close } = await serveConnected({ engine, consistency: findings, hostOf: (repo) => hostOf(repo) }));
  }

  beforeEach(async () => {
    run += 1;
    bench = await makeBench(database.store, `Acme/Shop-${run}`);
    onHost = new Map([[90, { ...({} as HostIssue), number: 90, title: 'Lost', state: 'open', labels: [] }]]);
    await serve(database.store);
  });
  afterEach(async () => {
    await close();
    await database.db.updateTable('repos').set({ enabled: false }).execute();
  });

  const idOf = (kind: string, number: number) => `${kind}:Acme/Shop-${run}#${number}`;
  const repair = (name: string, id: string) => call('POST', `/api/consistency/${encodeURIComponent(id)}/${name}`);
  const list = async (query = '') => (await call('GET', `/api/consistency${query}`)).json as never as Listed;
  interface Listed {
    items: ConsistencyFinding[];
    page: { total: number | null; limit: number; offset: number; hasMore: boolean };
    polledAt: string | null;
  }
  const answerOf = ({ status, json }: Answer) => [status, (json as { code?: string }).code];

  /** One contradiction of each kind that a repair corrects. @returns the ids of their findings. */
  async function breakAll(): Promise<string[]> {
    await writeContradictions(database.db, bench);
    return REPAIRS.map(([, kind]) => idOf(kind, FINDING_AT[kind]));
  }

  describe('list', () => {
    test('the list is empty and its total unknown before the first scan; afterwards both are real', async () => {
      const ids = await breakAll();
      expect(await list()).toEqual({
        items: [],
        page: { total: null, limit: 100, offset: 0, hasMore: false },
        polledAt: null,
      });
      await findings.refresh();
      const { items, page, polledAt } = await list();
      expect(polledAt).toBe(POLLED.toISOString());
      expect(items.map(({ id }) => id).sort()).toEqual([...ids].sort());
      expect(page).toEqual({ total: 5, limit: 100, offset: 0, hasMore: false });
      expect(items.find(({ kind }) => kind === 'stale_blocked')).toEqual({
        id: idOf('stale_blocked', 1),
        kind: 'stale_blocked',
        repoOwner: 'Acme',
        repoName: `Shop-${run}`,
        issueNumber: 1,
        detail: expect.objectContaining({ state: 'analyzing', blockReason: null, since: expect.any(String) }),
      });
      expect(items.find(({ kind }) => kind === 'orphan_dependency_edge')?.detail.orphanEdgeIds).toHaveLength(1);
    });

    test.each([
      ['?limit=2', { total: 5, limit: 2, offset: 0, hasMore: true }],
      ['?limit=2&offset=4', { total: 5, limit: 2, offset: 4, hasMore: false }],
      ['?limit=9999', { total: 5, limit: 500, offset: 0, hasMore: false }],
      ['?limit=0&offset=-3', { total: 5, limit: 100, offset: 0, hasMore: false }],
      ['?limit=many&offset=x', { total: 5, limit: 100, offset: 0, hasMore: false }],
    ])('%s', async (query, page) => {
      await breakAll();
      await findings.refresh();
      expect((await list(query)).page).toEqual(page);
    });

    test('counts findings by kind, with zero for kinds without any', async () => {
      await breakAll();
      await findings.refresh();
      const { registry } = createMetrics();
      registerConsistencyGauge(registry, findings);
      const text = await registry.metrics();
      for (const kind of CONSISTENCY_KINDS) {
        expect(text).toContain(`svc_consistency_findings{kind="${kind}"} ${kind === 'label_drift' ? 0 : 1}`);
      }
    });
  });

  describe.each(REPAIRS)('%s', (name, kind) => {
    const mine = async () => (await breakAll()).find((id) => id.startsWith(kind)) ?? '';

    test(`repairs ${kind}: the finding is gone from the answer and from the list; again changes nothing`, async () => {
      const id = await mine();
      await findings.refresh();
      for (let times = 0; times < 2; times += 1) {
        const answer = await repair(name, id);
        expect([answer.status, answer.json]).toEqual([200, { ok: true, finding: null }]);
        const { items, page } = await list();
        expect(items.map((item) => item.id)).not.toContain(id);
        expect(page.total).toBe(4);
      }
      await findings.refresh();
      expect((await list()).page.total).toBe(4);
    });

    test('twice at once, with the slug in another case: both learn that it is gone', async () => {
      const id = await mine();
      await findings.refresh();
      const both = await Promise.all([1, 2].map(() => repair(name, id.toLowerCase())));
      expect(both.map(({ status, json }) => [status, json])).toEqual([
        [200, { ok: true, finding: null }],
        [200, { ok: true, finding: null }],
      ]);
      expect((await list()).page.total).toBe(4);
    });

    test('answers 200 and null when there is no finding', async () => {
      await admit(bench, 5);
      const answer = await repair(name, idOf(kind, 5));
      expect([answer.status, answer.json]).toEqual([200, { ok: true, finding: null }]);
    });

    test.each([
      ['what is no id', () => 'nonsense', 404, 'CONSISTENCY_FINDING_NOT_FOUND'],
      ['an id that is too long', () => 'x'.repeat(2_000), 404, 'CONSISTENCY_FINDING_NOT_FOUND'],
      ['an unknown kind', () => idOf('flat_tyre', 1), 404, 'CONSISTENCY_FINDING_NOT_FOUND'],
      ['a kind that this route does not repair', () => idOf('label_drift', 1), 404, 'CONSISTENCY_FINDING_NOT_FOUND'],
      ['an unknown repo', () => `${kind}:no/where#1`, 404, 'CONSISTENCY_FINDING_NOT_FOUND'],
      ['no issue number', () => `${kind}:Acme/Shop-${run}`, 422, 'INVALID_ARGUMENT'],
    ])('%s', async (_what, id, status, code) => {
      expect(answerOf(await repair(name, id()))).toEqual([status, code]);
    });

    test('an issue that the pipeline does not know is not found, where only an issue can have the finding', async () => {
      const known = kind.startsWith('orphan');
      const expected = known ? [200, undefined] : [404, 'CONSISTENCY_FINDING_NOT_FOUND'];
      expect(answerOf(await repair(name, idOf(kind, 404)))).toEqual(expected);
    });

    test('needs credentials, and a store', async () => {
      const path = `/api/consistency/x/${name}`;
      expect(answerOf(await call('POST', path, { headers: {} }))).toEqual([401, 'AUTH_REQUIRED']);
      await close();
      const dead = database.open({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
      await serve(dead);
      expect(answerOf(await call('POST', path))).toEqual([503, 'STORE_UNAVAILABLE']);
      expect(answerOf(await call('GET', '/api/consistency'))).toEqual([
        STATUS_OF.STORE_UNAVAILABLE,
        'STORE_UNAVAILABLE',
      ]);
      await dead.close();
    });

    test('a failure of the service is a 500 without internals', async () => {
      const id = await mine();
      bench.engine.notify = () => {
        throw new Error('the bell has fallen off');
      };
      await close();
      await serve(database.store);
      const answer = await repair(name, id);
      expect(answerOf(answer)).toEqual([500, 'INTERNAL_ERROR']);
      expect(answer.text).not.toContain('bell');
    });
  });

  describe('enqueue-orphan', () => {
    test('answers 503 without access to the host of the repo', async () => {
      hostOf = () => null;
      const answer = await repair('enqueue-orphan', idOf('orphan_missing_from_pg', 90));
      expect(answerOf(answer)).toEqual([503, 'STORE_UNAVAILABLE']);
      expect((answer.json as { error: string }).error).toContain('not connected');
    });
  });

  describe('clear-flag', () => {
    test('repairs in the name of the operator', async () => {
      const [id = ''] = await breakAll();
      await repair('clear-flag', id);
      const row = await findIssue(database.db, bench.tenantId, bench.repo.id, 1);
      expect(row).toMatchObject({ state: 'analyzing', is_blocked: false, labels: ['svc:analyzing'] });
      const events = await database.db
        .selectFrom('pipeline_events')
        .select(['agent', 'payload'])
        .where('repo_id', '=', bench.repo.id)
        .where('event_type', '=', 'operator_action')
        .execute();
      expect(events).toEqual([
        { agent: 'olga', payload: { action: 'clear-flag', actorId: 'olga', reason: null, finding: id } },
      ]);
    });
  });

  afterAll(() => database.clear());
});

describe('counts of findings', () => {
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

  test('counts nothing before the first scan, and reports that', async () => {
    for (const path of PATHS) {
      expect((await call('GET', path)).json).toEqual({ total: 0, byKind: NONE, computedAt: null });
    }
  });

  test('findings are counted by kind', async () => {
    for (const number of [1, 2]) await admit(bench, number);
    await sql`update issues set is_blocked = true, state = 'failure-blocked' where issue_number = 1`.execute(
      database.db,
    );
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

  afterAll(() => database.clear());
});
