import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ExecuteResult, VcsHost } from '@pipeline/domain';
import { inTenant, Leader, type LeadingEngine } from '@pipeline/engine';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import { IDLE_SESSION_TIMEOUT_MS, insertProjections, inTransaction, type Notifications } from '@pipeline/store';
import { RepoPoller } from '../../src/intake/repo-poller.ts';
import { createOutboxMetrics } from '../../src/outbox/metrics.ts';
import { ProjectionExecutor } from '../../src/outbox/projections.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { commentsOf, connectedDoorbell, makeWorld, openIssue, type World } from '../support/sandbox-world.ts';
import { database } from './database.ts';

describe('a leader that was fenced', () => {
  const SLUG = 'acme/shop';
  const now = () => database.clock.now ?? new Date();

  let world: World;
  let bench: Bench;
  /** Monotonic clock of the process that is frozen, in milliseconds. */
  let elapsed = 0;
  let frozen: Notifications;
  let successor: Notifications;

  beforeEach(async () => {
    database.clock.now = new Date();
    elapsed = 0;
    world = await makeWorld([SLUG], now);
    await database.db.deleteFrom('projection_attempts').execute();
    await database.db.deleteFrom('projections').execute();
    bench = await makeBench(database.store, SLUG);
    frozen = await connectedDoorbell(database.url, () => elapsed);
    successor = await connectedDoorbell(database.url);
  });
  afterEach(async () => {
    await Promise.all([frozen.close(), successor.close()]);
    await world.stop();
  });

  const executorOn = (bell: Notifications, host: VcsHost = world.host.vcs) =>
    new ProjectionExecutor({
      engine: bench.engine,
      host,
      leader: new Leader(bell),
      budget: null,
      metrics: createOutboxMetrics(createMetrics().registry),
      log: silentLogger,
      now,
    });

  /** The engine of a process that leads, or comes to lead. */
  async function leading(bell: Notifications): Promise<LeadingEngine> {
    for (;;) {
      const engine = await new Leader(bell).run(bench.engine, async (one) => one);
      if (engine) return engine;
    }
  }

  /** An issue with a status comment in the outbox, which the executor looks for before it writes. */
  async function issueWithComment(): Promise<number> {
    const number = await openIssue(world, SLUG);
    const known = await database.db
      .selectFrom('issues')
      .select('id')
      .where('issue_number', '=', number)
      .executeTakeFirst();
    const issueId = known?.id ?? (await admit(bench, number));
    await database.db.deleteFrom('projections').execute();
    const action = { type: 'updateComment', body: 'Status', marker: 'status' } as const;
    const at = { repoId: bench.repo.id, issueId, issueNumber: number, clientType: 'sandbox' };
    await inTransaction(database.store.db, (tx) =>
      insertProjections(tx, bench.tenantId, [{ ...at, action, idempotencyKey: `status-${now().toISOString()}` }]),
    );
    return number;
  }

  const entry = () => database.db.selectFrom('projections').selectAll().executeTakeFirstOrThrow();

  test('sends no write when the lead expires between the read of the host and the write', async () => {
    const number = await issueWithComment();
    const vcs: VcsHost = {
      ...world.host.vcs,
      execute: (repo, issue, action, context) =>
        world.host.vcs.execute(repo, issue, action, {
          ...context,
          mayWrite: () => {
            elapsed += IDLE_SESSION_TIMEOUT_MS;
            return context.mayWrite?.() ?? true;
          },
        }),
    };
    const executor = executorOn(frozen, vcs);
    await executor.tick();
    await executor.landed();
    expect(await commentsOf(world, SLUG, number)).toEqual([]);
    expect(await entry()).toMatchObject({ status: 'pending', attempts: 0, attempt_started_at: expect.any(String) });
  });

  test('ends its leadership and takes a new one when it was frozen and no other one took over', async () => {
    const first = await leading(frozen);
    elapsed += IDLE_SESSION_TIMEOUT_MS;
    expect(() => first.store.db).toThrow('leadership of this process has ended');
    const second = await leading(frozen);
    expect(second.term.epoch).toBe(first.term.epoch + 1);
    expect([first.term.signal.aborted, first.term.isHeld(), second.term.isHeld()]).toEqual([true, false, true]);
  });

  test('keeps the attempt of the successor when a former leader reports that its own one failed', async () => {
    await issueWithComment();
    const answers: ((result: ExecuteResult) => void)[] = [];
    const held: VcsHost = {
      ...world.host.vcs,
      execute: () => new Promise((resolve) => void answers.push(resolve)),
    };
    const reached = async (count: number) => {
      while (answers.length < count) await database.store.ping();
    };
    const former = executorOn(frozen, held);
    await former.tick();
    await reached(1);
    await frozen.close();
    const next = executorOn(successor, held);
    await next.tick();
    await reached(2);
    answers[0]?.({ status: 'refused', httpStatus: 422, message: 'no', kind: 'other' });
    await former.landed();
    expect(await entry()).toMatchObject({ status: 'pending', error: null, attempt_started_at: expect.any(String) });
    answers[1]?.({ status: 'ok', repeated: false, created: null });
    await next.landed();
    expect(await entry()).toMatchObject({ status: 'complete', attempts: 1 });
  });

  test('stores nothing of a poll when another process took over while the host answered', async () => {
    await openIssue(world, SLUG, ['svc:enqueue']);
    const before = (await database.db.selectFrom('issues').select('id').execute()).length;
    const vcs: VcsHost = {
      ...world.host.vcs,
      listIssues: async (...call) => {
        const answer = await world.host.vcs.listIssues(...call);
        await frozen.close();
        await leading(successor);
        return answer;
      },
    };
    const deps = { engine: bench.engine, hostOf: () => vcs, log: silentLogger, now };
    const poller = new RepoPoller({ ...deps, leader: new Leader(frozen) });
    await poller.tick();
    await poller.landed();
    expect(await database.db.selectFrom('issues').select('id').execute()).toHaveLength(before);
    expect(await database.db.selectFrom('repo_sync').selectAll().execute()).toEqual([]);
  });

  test('refuses a transaction of an outdated epoch, whatever the process believes', async () => {
    const { term } = await leading(frozen);
    await frozen.close();
    expect((await leading(successor)).term.epoch).toBe(term.epoch + 1);
    const engine = { ...bench.engine, term };
    const write = inTenant(engine, bench.tenantId, ({ tx }) =>
      tx.updateTable('repos').set({ default_branch: 'stale' }).where('tenant_id', '=', bench.tenantId).execute(),
    );
    await expect(write).rejects.toMatchObject({ code: 'PL001' });
    const branches = await database.db.selectFrom('repos').select('default_branch').execute();
    expect(branches).not.toContainEqual({ default_branch: 'stale' });
  });

  afterAll(() => database.clear());
});
