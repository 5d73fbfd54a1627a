import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AppError } from '@pipeline/domain';
import type { ClaimedTask, ClaimRequest } from '@pipeline/engine';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import { until } from '@pipeline/testing';
import { ClaimWaiters } from '../../src/queue/long-poll/claim-waiters.ts';

describe('the waiters of claims', () => {
  type Settle = { request: ClaimRequest; give: (task: ClaimedTask | null) => void; fail: (error: unknown) => void };

  const task = (id: string) => ({ id, claimToken: id }) as ClaimedTask;
  const requestOf = (workerId: string, more: Partial<ClaimRequest> = {}): ClaimRequest => ({
    tenantId: 1,
    workerId,
    taskTypes: ['develop', 'review'],
    repoIds: null,
    ...more,
  });

  let waiters: ClaimWaiters;
  /** Attempted claims; while `held` the test answers them, else they get the next of `tasks`. */
  let claims: Settle[];
  let held: boolean;
  let tasks: ClaimedTask[];
  let returned: string[];
  let draining: string[];

  beforeEach(() => {
    claims = [];
    held = false;
    tasks = [];
    returned = [];
    draining = [];
    waiters = new ClaimWaiters({
      claim: (request) =>
        new Promise((give, fail) => {
          claims.push({ request, give, fail });
          if (!held) give(draining.includes(request.workerId) ? null : (tasks.shift() ?? null));
        }),
      returnClaim: async (_tenantId, { id }) => returned.push(id),
      draining: async (_tenantId, ids) => ids.filter((id) => draining.includes(id)),
      // Longer than any test: the slow poll answers nothing here.
      pollMs: 3_600_000,
      log: silentLogger,
      metrics: createMetrics().loops,
    });
  });
  afterEach(async () => {
    await waiters.close();
    await waiters.settled();
  });

  const never = new AbortController().signal;
  const claim = (workerId: string, more: Partial<ClaimRequest> = {}, signal = never, waitMs = 30_000) =>
    waiters.claim(requestOf(workerId, more), { waitMs, signal });
  /** Waits until so many claims wait and their first round is over. */
  async function waiting(n: number): Promise<void> {
    await until(`${n} wait`, () => waiters.size === n);
    let before = -1;
    await until('quiet', () => {
      const quiet = before === claims.length;
      before = claims.length;
      return quiet;
    });
  }

  /** Long enough for a busy machine to begin an attempt. */
  const SECOND_MS = 1_000;

  describe('the waiter queue of a tenant', () => {
    test('gives tasks to waiters in order when several wait', async () => {
      const got: string[] = [];
      const all = ['a', 'b', 'c'].map(async (id) => {
        await claim(id);
        got.push(id);
      });
      await waiting(3);
      tasks = [task('1'), task('2')];
      waiters.wake([1]);
      await until('two are served', () => got.length === 2);
      expect(got).toEqual(['a', 'b']);
      tasks = [task('3')];
      waiters.wake(null);
      await Promise.all(all);
    });

    test('attempts one claim per scope when a notification brings no task', async () => {
      const all = Array.from({ length: 40 }, (_, n) =>
        claim(
          `w${n}`,
          n % 4 === 0 ? { taskTypes: ['review', 'develop'] } : n % 4 === 1 ? {} : { repoIds: n < 20 ? [1, 2] : [2] },
        ),
      );
      await waiting(40);
      claims = [];
      waiters.wake([1]);
      await waiting(40);
      expect(claims.length).toBe(3);
      await waiters.close();
      expect(await Promise.all(all)).toEqual(Array(40).fill(null));
    });

    test('gives the task to the next waiter when a worker is draining', async () => {
      const [first, second] = [claim('a'), claim('b')];
      await waiting(2);
      draining = ['a'];
      tasks = [task('1')];
      waiters.wake([1]);
      expect(await first).toBeNull();
      expect((await second)?.id).toBe('1');
    });

    test('rejects a waiter and continues with the next when its worker is unknown', async () => {
      const [first, second] = [claim('a'), claim('b')];
      const refused = expect(first).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await waiting(2);
      [held, claims] = [true, []];
      waiters.wake([1]);
      await until('the first is tried', () => claims.length === 1);
      claims[0]?.fail(new AppError('NOT_FOUND', 'Unknown worker'));
      await until('the second is tried', () => claims.length === 2);
      claims[1]?.give(task('1'));
      await refused;
      expect((await second)?.id).toBe('1');
    });

    test('rejects all waiters after one attempt when the store is unavailable', async () => {
      const all = Promise.allSettled([claim('a'), claim('b', { repoIds: [1] })]);
      await waiting(2);
      [held, claims] = [true, []];
      waiters.wake([1]);
      await until('the first is tried', () => claims.length === 1);
      claims[0]?.fail(new AppError('STORE_UNAVAILABLE', ''));
      expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect(claims.length).toBe(1);
    });

    test('runs another round when a notification arrives during a round', async () => {
      const answer = claim('a');
      await waiting(1);
      [held, claims] = [true, []];
      waiters.wake([1]);
      await until('it is tried', () => claims.length === 1);
      waiters.wake([1]);
      [held, tasks] = [false, [task('1')]];
      claims[0]?.give(null);
      expect((await answer)?.id).toBe('1');
    });
  });

  test('claims again when a notification arrives between the first attempt and the wait', async () => {
    const other = claim('a', { taskTypes: ['merge'] });
    await waiting(1);
    [held, claims] = [true, []];
    const answer = claim('b');
    held = false;
    waiters.wake([1]);
    await until('the notification is handled', () => claims.length === 2);
    tasks = [task('1')];
    draining = ['a'];
    claims[0]?.give(null);
    expect((await answer)?.id).toBe('1');
    expect(await other).toBeNull();
  });

  describe('a claimed task', () => {
    /** A waiting claim whose attempt is in flight. */
    async function trying(signal?: AbortSignal, waitMs?: number) {
      const answer = claim('a', {}, signal, waitMs);
      await waiting(1);
      [held, claims] = [true, []];
      waiters.wake([1]);
      await until('it is tried', () => claims.length === 1);
      return answer;
    }

    test('reaches its worker when the wait times out during the attempt', async () => {
      held = true;
      const answer = claim('a', {}, never, SECOND_MS);
      claims[0]?.give(null);
      await until('the second attempt is in progress', () => claims.length === 2);
      // Longer than the wait.
      const begun = performance.now();
      await until('the time is over', () => performance.now() - begun > SECOND_MS + 50);
      claims[1]?.give(task('1'));
      expect((await answer)?.id).toBe('1');
    });

    test('the response has no task when the wait times out and the attempt finds none', async () => {
      const answer = trying(never, SECOND_MS);
      await until('it is tried', () => held && claims.length === 1);
      const begun = performance.now();
      await until('the time is over', () => performance.now() - begun > SECOND_MS + 50);
      claims[0]?.give(null);
      expect(await answer).toBeNull();
    });

    test('reaches its worker, and delays the shutdown, when the process stops during the attempt', async () => {
      const answer = trying();
      await until('it is tried', () => held && claims.length === 1);
      let closed = false;
      const closing = waiters.close().then(() => {
        closed = true;
      });
      expect(closed).toBe(false);
      claims[0]?.give(task('1'));
      expect((await answer)?.id).toBe('1');
      await closing;
    });

    test('returns the task when the caller disconnects during the attempt', async () => {
      const gone = new AbortController();
      const answer = trying(gone.signal);
      await until('it is tried', () => held && claims.length === 1);
      gone.abort();
      claims[0]?.give(task('1'));
      expect(await answer).toBeNull();
      await waiters.settled();
      expect(returned).toEqual(['1']);
    });

    test('returns the task when the caller disconnects while the response is written', async () => {
      const gone = new AbortController();
      tasks = [task('1')];
      expect((await claim('a', {}, gone.signal))?.id).toBe('1');
      gone.abort();
      await waiters.settled();
      expect(returned).toEqual(['1']);
    });
  });

  test('attempts no claim when the caller has disconnected or the process stops', async () => {
    expect(await claim('a', {}, AbortSignal.abort())).toBeNull();
    await waiters.close();
    expect(await claim('a')).toBeNull();
    expect(claims).toEqual([]);
  });
});
