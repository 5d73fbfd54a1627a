import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ConsistencyFinding, HostIssue, VcsHost } from '@pipeline/domain';
import { beginSending, claim, heartbeat, OrphanWatch, registerWorker, settle } from '@pipeline/engine';
import { findIssue } from '@pipeline/store';
import { type ConsistencyCache, consistencyCache } from '../../src/consistency/consistency-cache.ts';
import { type DeadLetterCache, readDeadLetters } from '../../src/dead-letters/dead-letter-cache.ts';
import { ListCache } from '../../src/polling/list-cache.ts';
import { addDeadLetter, admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('rows beside issues', () => {
  const START = Date.parse('2026-03-01T00:00:00Z');
  const at = (seconds: number) => {
    database.clock.now = new Date(START + seconds * 1_000);
  };
  /** An open issue of the host that nobody let in. */
  const LOST = { ...({} as HostIssue), number: 90, title: 'Lost', state: 'open' as const, labels: [] };
  const host = {
    getIssue: async (_repo, wanted) => (wanted === LOST.number ? LOST : null),
    listIssues: async () => ({ issues: [LOST], changedPullRequests: [], etag: null }),
  } as Partial<VcsHost> as VcsHost;

  let bench: Bench;
  let deadLetters: DeadLetterCache;
  let findings: ConsistencyCache;
  let call: Call;
  let close: () => Promise<void>;
  let number = 0;
  const next = (): number => {
    number += 1;
    return number;
  };

  beforeAll(async () => {
    at(0);
    bench = await makeBench(database.store, 'Acme/Shop');
    const { engine } = bench;
    const orphans = new OrphanWatch({ engine, hostOf: () => host, onError: () => undefined });
    await orphans.check();
    deadLetters = new ListCache(
      () => readDeadLetters(database.store.db),
      () => new Date(),
    );
    findings = consistencyCache(engine, orphans, () => new Date());
    ({ call, close } = await serveConnected({ engine, deadLetters, consistency: findings, hostOf: () => host }));
  });
  afterAll(() => close());

  beforeEach(async () => {
    at(0);
    next();
    for (const table of ['tasks', 'projections', 'dead_letters', 'issue_edges', 'si_issues'] as const)
      await database.db.deleteFrom(table).execute();
  });

  const stateOf = async (issue = number) => (await findIssue(database.db, bench.tenantId, bench.repo.id, issue))?.state;
  /** The last thing that an operator did. */
  const operation = async () =>
    (
      await database.db
        .selectFrom('pipeline_events')
        .select('payload')
        .where('event_type', '=', 'operator_action')
        .orderBy('id', 'desc')
        .executeTakeFirst()
    )?.payload;

  describe('interface: States and transitions, rows of Dead letter', () => {
    const listed = async () =>
      ((await call('GET', '/api/dead-letters')).json as never as { items: { id: string }[] }).items.map(({ id }) => id);
    const resolution = (id: string) =>
      database.db.selectFrom('dead_letters').select('resolution').where('id', '=', id).executeTakeFirstOrThrow();

    test('Dead letter | unresolved | POST resolve', async () => {
      const id = await addDeadLetter(bench, number);
      await deadLetters.refresh();
      expect((await call('POST', `/api/dead-letters/${id}/resolve`)).json).toEqual({ ok: true });
      expect([await resolution(id), await listed(), await stateOf()]).toEqual([
        { resolution: 'resolved' },
        [],
        'analyzing',
      ]);
      expect(await operation()).toMatchObject({ action: 'dead-letter-resolve', actorId: 'olga' });
    });

    test('Dead letter | unresolved | POST resolve-all', async () => {
      const first = await addDeadLetter(bench, number);
      const second = await addDeadLetter(bench, next());
      await deadLetters.refresh();
      // In the store and not in the cache yet: it is not meant.
      const later = await addDeadLetter(bench, next());
      expect((await call('POST', '/api/dead-letters/resolve-all')).json).toMatchObject({ ok: true, resolved: 2 });
      for (const id of [first, second]) expect(await resolution(id)).toEqual({ resolution: 'resolved' });
      expect(await listed()).toEqual([later]);
      for (const issue of [number, number - 1, number - 2]) expect(await stateOf(issue)).toBe('analyzing');
    });

    test('Dead letter | unresolved | POST retry', async () => {
      const id = await addDeadLetter(bench, number);
      await deadLetters.refresh();
      expect((await call('POST', `/api/dead-letters/${id}/retry`)).json).toEqual({ ok: true, newState: 'planning' });
      expect([await resolution(id), await listed(), await stateOf()]).toEqual([
        { resolution: 'retried' },
        [],
        'planning',
      ]);
      expect(await operation()).toMatchObject({ action: 'dead-letter-retry', actorId: 'olga' });
    });
  });

  describe('interface: States and transitions, rows of Projection', () => {
    const STATUSES = ['pending', 'failed', 'complete', 'discarded'] as const;
    const OK = { status: 'ok' as const, repeated: false, created: null };
    const NO = { status: 'refused' as const, httpStatus: 422, message: 'no', kind: 'other' as const };
    /** The write of labels of a fresh issue, in that status. */
    const projectionIn = async (status: (typeof STATUSES)[number]): Promise<number> => {
      await admit(bench, number);
      const { id } = await database.db.selectFrom('projections').select('id').orderBy('id').executeTakeFirstOrThrow();
      if (status === 'discarded') await call('POST', `/api/projections/${id}/discard`);
      else if (status !== 'pending') await send(id, status === 'complete' ? OK : NO);
      return id;
    };
    const send = async (id: number, result: typeof OK | typeof NO) => {
      const sending = await beginSending(bench.engine, bench.tenantId, id);
      if (!sending) throw new Error('not pending');
      await settle(bench.engine, sending, result);
    };
    const listed = async (id: number) => {
      const found = async (status: string) =>
        ((await call('GET', `/api/projections?status=${status}`)).json as never as { projections: { id: number }[] })
          .projections;
      const all = (await Promise.all(STATUSES.map(found))).flat();
      return all.find((projection) => projection.id === id);
    };

    test.each(STATUSES)('Projection | any | POST retry: %s', async (status) => {
      const id = await projectionIn(status);
      expect((await call('POST', `/api/projections/${id}/retry`)).json).toEqual({ ok: true });
      expect(await listed(id)).toMatchObject({ status: 'pending', attempts: 0 });
      expect(await operation()).toMatchObject({ action: 'projection-retry', actorId: 'olga' });
      await send(id, OK);
      expect(await listed(id)).toMatchObject({ status: 'complete', attempts: 1 });
    });

    test.each(STATUSES)('Projection | any | POST discard: %s', async (status) => {
      const id = await projectionIn(status);
      expect((await call('POST', `/api/projections/${id}/discard`)).json).toEqual({ ok: true });
      expect(await listed(id)).toMatchObject({ status: 'discarded' });
      expect(await beginSending(bench.engine, bench.tenantId, id)).toBeNull();
      expect(await operation()).toMatchObject({ action: 'projection-discard', actorId: 'olga' });
    });
  });

  describe('interface: States and transitions, rows of Task and Worker', () => {
    const register = (name: string) =>
      registerWorker(bench.engine, bench.tenantId, {
        name,
        hostname: '',
        version: '1',
        repos: [],
        taskTypes: ['analyze'],
        labels: {},
      });
    const take = (workerId: string) =>
      claim(bench.engine, { tenantId: bench.tenantId, workerId, taskTypes: ['analyze'], repoIds: null });
    const drain = (id: string, on: boolean) => call('POST', `/api/workers/${id}/drain`, { body: { drain: on } });

    test('Task | claimed (stalled) | POST reclaim', async () => {
      await admit(bench, number);
      const [stalled, other] = [await register('stalled'), await register('other')];
      const task = await take(stalled);
      // Its lease is over.
      at(61);
      expect((await call('POST', `/api/workers/${stalled}/reclaim`)).json).toEqual({
        ok: true,
        reclaimed: true,
        taskId: task?.id,
        issueNumber: number,
      });
      const row = await database.db.selectFrom('tasks').select(['status', 'claimed_by']).executeTakeFirst();
      expect(row).toEqual({ status: 'pending', claimed_by: null });
      expect(await take(other)).toMatchObject({ id: task?.id });
      expect(await operation()).toMatchObject({ action: 'worker-reclaim', actorId: 'olga', taskId: task?.id });
    });

    test('Worker | any | POST drain', async () => {
      const id = await register('drained');
      await admit(bench, number);
      const task = await take(id);
      if (!task) throw new Error('nothing to claim');
      const beat = () =>
        heartbeat(bench.engine, {
          tenantId: bench.tenantId,
          workerId: id,
          status: 'busy',
          tasks: [{ taskId: task.id, claimToken: task.claimToken }],
        });
      await admit(bench, next());
      expect((await drain(id, true)).json).toEqual({ ok: true, draining: true });
      // It keeps the task that it has, and gets no other.
      expect(await beat()).toMatchObject({ draining: true, cancelTaskIds: [] });
      expect(await take(id)).toBeNull();
      expect(await operation()).toMatchObject({ action: 'worker-drain', actorId: 'olga', workerId: id });

      expect((await drain(id, false)).json).toEqual({ ok: true, draining: false });
      expect(await beat()).toMatchObject({ draining: false });
      expect(await take(id)).toMatchObject({ issueNumber: number });
      expect(await operation()).toMatchObject({ action: 'worker-resume', actorId: 'olga', workerId: id });
    });
  });

  describe('interface: States and transitions, rows of Consistency finding', () => {
    const idOf = (kind: string, issue: number) => `${kind}:Acme/Shop#${issue}`;
    const set = (row: Record<string, unknown>) =>
      database.db
        .updateTable('issues')
        .set(row)
        .where('repo_id', '=', bench.repo.id)
        .where('issue_number', '=', number)
        .execute();
    const edge = (kind: 'subtask' | 'depends_on', child: number, parent: number) => {
      const repos = { tenant_id: bench.tenantId, child_repo_id: bench.repo.id, parent_repo_id: bench.repo.id };
      return database.db
        .insertInto('issue_edges')
        .values({ ...repos, kind, child_issue_number: child, parent_issue_number: parent })
        .execute();
    };
    const edges = () => database.db.selectFrom('issue_edges').select('resolved_at').execute();

    /** Cause of each finding, and the effect of its repair. */
    const REPAIRS = {
      'clear-flag': {
        kind: 'stale_blocked',
        spoil: () => set({ is_blocked: true }),
        repaired: async () =>
          expect((await findIssue(database.db, bench.tenantId, bench.repo.id, number))?.is_blocked).toBe(false),
      },
      'resolve-subtask-edges': {
        kind: 'stale_subtask_edge',
        spoil: async () => {
          await set({ state: 'done' });
          await edge('subtask', number + 1_000, number);
          await admit(bench, number + 1_000);
        },
        repaired: async () => expect(await edges()).toEqual([{ resolved_at: expect.any(String) }]),
      },
      'enqueue-orphan': {
        kind: 'orphan_missing_from_pg',
        spoil: async () => undefined,
        repaired: async () => {
          const asked = await database.db.selectFrom('projections').select(['action', 'issue_number']).execute();
          expect(asked.find(({ issue_number }) => issue_number === LOST.number)?.action).toEqual({
            type: 'addLabels',
            labels: ['svc:enqueue'],
          });
        },
      },
      'link-si': {
        kind: 'si_linkage_gap',
        spoil: async () => {
          await set({ state: 'done' });
          const key = { tenant_id: bench.tenantId, repo_id: bench.repo.id };
          await database.db
            .insertInto('si_issues')
            .values({ ...key, issue_number: number, track_name: 'docs' })
            .execute();
        },
        repaired: async () => {
          const [row] = await database.db.selectFrom('si_issues').selectAll().execute();
          expect(row).toMatchObject({ issue_number: number, completed_at: expect.any(String) });
        },
      },
      'delete-orphan-edges': {
        kind: 'orphan_dependency_edge',
        spoil: () => edge('depends_on', number, 77_777),
        repaired: async () => expect(await edges()).toEqual([]),
      },
    } as const;

    test.each(Object.keys(REPAIRS) as (keyof typeof REPAIRS)[])(
      'Consistency finding | present | repair endpoints: %s',
      async (name) => {
        const { kind, spoil, repaired } = REPAIRS[name];
        await admit(bench, number);
        await spoil();
        await findings.refresh();
        const id = idOf(kind, name === 'enqueue-orphan' ? LOST.number : number);
        const cached = async () =>
          ((await call('GET', '/api/consistency')).json as never as { items: ConsistencyFinding[] }).items.map(
            (item) => item.id,
          );
        expect(await cached()).toContain(id);
        for (let times = 0; times < 2; times += 1) {
          const answer = await call('POST', `/api/consistency/${encodeURIComponent(id)}/${name}`);
          expect([answer.status, answer.json]).toEqual([200, { ok: true, finding: null }]);
          expect(await cached()).not.toContain(id);
          await repaired();
        }
        expect(await operation()).toMatchObject({ action: name, actorId: 'olga', finding: id });
      },
    );
  });

  afterAll(() => database.clear());
});
