import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ExecuteResult, ProjectionAction, VcsHost } from '@pipeline/domain';
import { beginSending, Leader, sendable } from '@pipeline/engine';
import { createMetrics, type Logger, silentLogger } from '@pipeline/runtime';
import { insertProjections, inTransaction, type Notifications } from '@pipeline/store';
import { createGitHubHost } from '@pipeline/vcs/github';
import { spendingFetch, WriteBudget } from '../../src/hosts/write-budget.ts';
import { createOutboxMetrics } from '../../src/outbox/metrics.ts';
import { ProjectionExecutor } from '../../src/outbox/projections.ts';
import { writeQueueGauge } from '../../src/outbox/write-queue-gauge.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import {
  BOT,
  commentsOf,
  connectedDoorbell,
  labelsOf,
  makeWorld,
  openIssue,
  type World,
} from '../support/sandbox-world.ts';
import { database } from './database.ts';

describe('the executor of writes', () => {
  const SLUG = 'acme/shop';
  const IN_DOUBT = { status: 'pending', attempt_started_at: expect.any(String) };

  let world: World;
  let bench: Bench;
  let notifications: Notifications;
  let time = Date.now();
  const now = () => new Date(time);
  const pass = (ms: number) => {
    time += ms;
    database.clock.now = now();
  };

  beforeEach(async () => {
    pass(0);
    world = await makeWorld([SLUG], now);
    for (const table of ['projection_attempts', 'projections', 'issue_edges'] as const)
      await database.db.deleteFrom(table).execute();
    bench = await makeBench(database.store, SLUG);
    notifications = await connectedDoorbell(database.url);
  });
  afterEach(async () => {
    await notifications.close();
    await world.stop();
  });

  const executorOn = (over: { host?: VcsHost; bell?: Notifications; budget?: WriteBudget; log?: Logger } = {}) =>
    new ProjectionExecutor({
      engine: bench.engine,
      host: over.host ?? world.host.vcs,
      leader: new Leader(over.bell ?? notifications),
      budget: over.budget ?? null,
      metrics: createOutboxMetrics(createMetrics().registry),
      log: over.log ?? silentLogger,
      now,
    });

  /** Sends until nothing more may go. */
  async function drain(executor: ProjectionExecutor): Promise<void> {
    do await executor.tick();
    while (await executor.landed());
  }

  let queued = 0;
  /** An issue on the host with these entries in its outbox and no others. */
  async function issueWith(...actions: ProjectionAction[]): Promise<number> {
    const number = await openIssue(world, SLUG);
    // The host is new in each test; the store goes on.
    if (!(await issueId(number))) await admit(bench, number);
    await database.db.deleteFrom('projections').where('issue_number', '=', number).execute();
    await queue(number, ...actions);
    return number;
  }

  const issueId = async (number: number) =>
    (await database.db.selectFrom('issues').select('id').where('issue_number', '=', number).executeTakeFirst())?.id;

  async function queue(number: number, ...actions: ProjectionAction[]): Promise<void> {
    const id = (await issueId(number)) ?? 0;
    await inTransaction(database.store.db, (tx) =>
      insertProjections(
        tx,
        bench.tenantId,
        actions.map((action) => {
          queued += 1;
          const at = { repoId: bench.repo.id, issueId: id, issueNumber: number, clientType: 'sandbox' };
          return { ...at, action, idempotencyKey: `queued-${queued}` };
        }),
      ),
    );
  }

  const comment = (text: string): ProjectionAction => ({ type: 'postComment', body: text, marker: text });
  const label = (name: string): ProjectionAction => ({ type: 'addLabels', labels: [name] });
  const rows = () => database.db.selectFrom('projections').selectAll().orderBy('id').execute();
  const texts = async (number: number) => (await commentsOf(world, SLUG, number)).map((body) => body.split('\n')[0]);

  describe('a write', () => {
    test('appears on the host, in the order of its lane, and is complete', async () => {
      const number = await issueWith(comment('one'), label('svc:planning'), comment('two'), comment('three'));
      await drain(executorOn());
      expect(await texts(number)).toEqual(['one', 'two', 'three']);
      expect(await labelsOf(world, SLUG, number)).toEqual(['svc:enqueue', 'svc:planning']);
      for (const row of await rows())
        expect(row).toMatchObject({ status: 'complete', attempts: 1, attempt_started_at: null });
      const attempts = await database.db.selectFrom('projection_attempts').select('outcome').execute();
      expect(attempts).toEqual(Array(4).fill({ outcome: 'ok' }));
    });

    test('a write whose answer was lost is not done twice, even if the host cannot be queried at first', async () => {
      const number = await issueWith(comment('once'));
      const executor = executorOn();
      world.sandbox.failNext({ drop: 'after', match: { method: 'POST', path: '/comments' } });
      await drain(executor);
      expect(await texts(number)).toEqual(['once']);
      expect((await rows())[0]).toMatchObject({ ...IN_DOUBT, attempts: 1 });

      const match = { method: 'GET', path: '/comments' };
      world.sandbox.failNext({ status: 429, headers: { 'retry-after': '60' }, match });
      pass(120_000);
      await drain(executor);
      expect((await rows())[0]).toMatchObject({ status: 'pending', attempts: 1 });
      world.sandbox.failNext({ status: 401, match });
      pass(120_000);
      await drain(executor);
      expect((await rows())[0]).toMatchObject({ status: 'pending', attempts: 2 });
      pass(3_600_000);
      await drain(executor);
      expect((await rows())[0]).toMatchObject({ status: 'complete' });
      expect(await texts(number)).toEqual(['once']);
    });

    test('the next process finds a write on the host that a killed one had sent', async () => {
      const number = await issueWith(comment('once'));
      const [entry] = await sendable(bench.engine, 'sandbox', 10);
      const sending = entry && (await beginSending(bench.engine, entry.tenant_id, entry.id));
      if (!sending) throw new Error('nothing to send');
      await world.host.vcs.execute(bench.repo, number, sending.projection.action, { mayHaveHappened: false });
      // Killed here: the answer is never written down.
      await drain(executorOn());
      expect(await texts(number)).toEqual(['once']);
      expect((await rows())[0]).toMatchObject({ status: 'complete' });
    });

    test('a write that the host refuses permanently blocks its own lane and no other', async () => {
      const number = await issueWith(comment('refused'), comment('held'), label('svc:planning'));
      const other = await issueWith(comment('free'));
      world.sandbox.failNext({ status: 403, match: { method: 'POST', path: `/issues/${number}/comments` } });
      await drain(executorOn());
      expect((await rows()).map(({ status }) => status)).toEqual(['failed', 'pending', 'complete', 'complete']);
      expect(await texts(number)).toEqual([]);
      expect(await labelsOf(world, SLUG, number)).toContain('svc:planning');
      expect(await texts(other)).toEqual(['free']);
    });
  });

  test('the executor sends nothing after a rate limit until the time it named, and spends no attempt', async () => {
    await issueWith(comment('one'));
    await issueWith(comment('two'));
    let calls = 0;
    const execute: VcsHost['execute'] = async (...call) => {
      calls += 1;
      const retryAt = new Date(time + 60_000).toISOString();
      if (calls === 1) return { status: 'rate-limited', retryAt, message: 'slow down' };
      return world.host.vcs.execute(...call);
    };
    const executor = executorOn({ host: { ...world.host.vcs, execute } });
    await drain(executor);
    const waiting = (await rows()).filter(({ status }) => status === 'pending');
    expect(new Set(waiting.map(({ attempts }) => attempts))).toEqual(new Set([0]));
    await issueWith(comment('three'));
    const before = calls;
    pass(59_000);
    await drain(executor);
    expect(calls).toBe(before);
    pass(2_000);
    await drain(executor);
    expect((await rows()).every(({ status }) => status === 'complete')).toBe(true);
  });

  test('the outbox is counted by repo and status, also while nothing of it ends', async () => {
    await issueWith(label('x'), label('y'));
    await database.db.updateTable('projections').set({ status: 'failed' }).where('status', '=', 'pending').execute();
    await issueWith(comment('waits'));
    const { registry } = createMetrics();
    const gauge = writeQueueGauge(registry, database.store);
    await gauge.look();
    const text = await registry.getSingleMetricAsString('svc_projections');
    expect(text).toContain(`svc_projections{repo="${SLUG}",status="failed"} 2`);
    expect(text).toContain(`svc_projections{repo="${SLUG}",status="pending"} 1`);
    await database.db.updateTable('projections').set({ status: 'complete' }).execute();
    await gauge.look();
    expect(await registry.getSingleMetricAsString('svc_projections')).not.toContain(SLUG);
  });

  test('concurrent writes stay within the minute, also those of several requests', async () => {
    const budget = new WriteBudget(() => ({ perMinute: 6, perHour: 500 }), now);
    const swap: ProjectionAction = { type: 'swapLabels', remove: ['svc:a', 'svc:b'], add: ['svc:c'] };
    for (let n = 0; n < 5; n += 1) await issueWith(swap);
    const account = { baseUrl: world.sandbox.url, token: BOT.token, clientType: 'sandbox', userAgent: 'test' } as const;
    const vcs = createGitHubHost({ ...account, fetch: spendingFetch(budget), now });
    const done = async () => (await rows()).filter(({ status }) => status === 'complete').length;
    const executor = executorOn({ budget, host: vcs });
    const writes: number[] = [];
    for (let minute = 0; minute < 4 && (await done()) < 5; minute += 1) {
      await drain(executor);
      writes.push(6 - budget.left());
      pass(60_000);
    }
    expect(await done()).toBe(5);
    expect(Math.max(...writes)).toBeLessThanOrEqual(6);
    expect(writes.length).toBeGreaterThan(1);
  });

  describe('concurrent attempts', () => {
    /** A host whose answers wait for the test. */
    function heldHost() {
      const open: { issue: number; answer: (result: ExecuteResult) => void; signal: AbortSignal | undefined }[] = [];
      const host: VcsHost = {
        ...world.host.vcs,
        execute: (_repo, issue, _action, { signal }) =>
          new Promise((resolve) => {
            open.push({ issue, answer: resolve, signal });
            signal?.addEventListener('abort', () => resolve({ status: 'failed', message: 'aborted', ambiguous: true }));
          }),
      };
      return { host, open };
    }
    /** An executor whose first attempt has reached that host. */
    async function inFlight() {
      const { host, open } = heldHost();
      const executor = executorOn({ host });
      await executor.tick();
      await reached(open, 1);
      return { executor, open };
    }
    const allow = async (parallelIssues: number) => {
      const hostBudget = { ...bench.engine.settings().hostBudget, parallelIssues };
      bench = await makeBench(database.store, SLUG, { hostBudget });
    };
    const OK: ExecuteResult = { status: 'ok', repeated: false, created: null };
    const flying = (open: { issue: number }[]) => open.map(({ issue }) => issue).sort();
    const reached = async (open: unknown[], n: number) => {
      while (open.length < n) await database.store.ping();
    };

    test('the executor wakes itself for the next entry of a lane, and not after the last one', async () => {
      const number = await issueWith(comment('one'), comment('two'), comment('three'));
      const executor = executorOn();
      let wakes = 0;
      executor.onLanded = () => {
        wakes += 1;
      };
      for (let before = -1; before < wakes; ) {
        before = wakes;
        await executor.tick();
        await executor.landed();
      }
      expect(await texts(number)).toEqual(['one', 'two', 'three']);
      expect(wakes).toBe(2);
    });

    test('the executor wakes itself for an entry that was queued behind an attempt in progress', async () => {
      const number = await issueWith(comment('one'));
      const { executor, open } = await inFlight();
      await queue(number, comment('two'));
      // As its notification does: the new entry is not shown yet.
      await executor.tick();
      const woken = new Promise<void>((resolve) => {
        executor.onLanded = resolve;
      });
      open.shift()?.answer(OK);
      await woken;
      await executor.tick();
      await reached(open, 1);
      await executor.stop();
    });

    test('issues go in parallel up to the setting, one entry of an issue at a time', async () => {
      await allow(2);
      const numbers = [];
      for (const text of ['a', 'b', 'c']) numbers.push(await issueWith(comment(text), label('svc:planning')));
      const { host, open } = heldHost();
      const executor = executorOn({ host });
      for (let n = 0; n < 3; n += 1) {
        await executor.tick();
        await reached(open, 2);
      }
      expect(flying(open)).toEqual(numbers.slice(0, 2));
      open.shift()?.answer(OK);
      await new Promise<void>((landed) => {
        executor.onLanded = landed;
      });
      await executor.tick();
      await reached(open, 2);
      expect(new Set(flying(open)).size).toBe(2);
      await executor.stop();
    });

    test('one of two replicas leads; when its session ends the other one takes over', async () => {
      const number = await issueWith(comment('once'));
      const secondBell = await connectedDoorbell(database.url);
      const [first, second] = [executorOn(), executorOn({ bell: secondBell })];
      await drain(first);
      await queue(number, comment('twice'));
      await drain(second);
      expect(await texts(number)).toEqual(['once']);
      await notifications.close();
      await drain(second);
      expect(await texts(number)).toEqual(['once', 'twice']);
      await secondBell.close();
    });

    test('an attempt that is broken off at the end of the process stays in doubt and costs nothing', async () => {
      await issueWith(comment('one'));
      const { executor, open } = await inFlight();
      await notifications.close();
      await executor.landed();
      expect(open[0]?.signal?.aborted).toBe(true);
      expect((await rows())[0]).toMatchObject({ ...IN_DOUBT, attempts: 0 });
    });

    test('a second answer for an entry changes nothing', async () => {
      await issueWith(comment('one'));
      const { host, open } = heldHost();
      const secondBell = await connectedDoorbell(database.url);
      // Without the signal that aborts the attempt.
      const late = executorOn({
        host: { ...host, execute: (...call) => host.execute(call[0], call[1], call[2], { mayHaveHappened: false }) },
      });
      await late.tick();
      await reached(open, 1);
      await notifications.close();
      await drain(executorOn({ bell: secondBell }));
      open[0]?.answer({ status: 'refused', httpStatus: 422, message: 'no', kind: 'other' });
      await late.landed();
      expect((await rows())[0]).toMatchObject({ status: 'complete', attempts: 1, error: null });
      await secondBell.close();
    });

    test('an issue whose answer could not be written down rests, others go on', async () => {
      const number = await issueWith(comment('odd'), label('later'));
      const other = await issueWith(comment('even'));
      let calls = 0;
      const host: VcsHost = {
        ...world.host.vcs,
        execute: async (...call) => {
          calls += 1;
          return call[1] === number ? ({ status: 'unheard of' } as never) : world.host.vcs.execute(...call);
        },
      };
      const executor = executorOn({ host });
      await drain(executor);
      await drain(executor);
      expect([calls, await texts(other)]).toEqual([2, ['even']]);
      pass(31_000);
      await drain(executor);
      expect(calls).toBe(3);
    });
  });

  afterAll(() => database.clear());
});
