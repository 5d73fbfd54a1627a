import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AppError } from '@pipeline/domain';
import type { ClaimedTask, ClaimRequest } from '@pipeline/engine';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import { until } from '@pipeline/testing';
import { ClaimWaiters } from '../../src/queue/claim-waiters.ts';

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
/** Claims that were made; `held` decides whether the test answers them or they find what is in `tasks`. */
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
    giveBack: async (_tenantId, { id }) => returned.push(id),
    draining: async (_tenantId, ids) => ids.filter((id) => draining.includes(id)),
    // Whatever happens here, no slow poll brings it about.
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
/** Stands in line, and its own first round is over. */
async function inLine(n: number): Promise<void> {
  await until(`${n} wait`, () => waiters.size === n);
  let before = -1;
  await until('quiet', () => {
    const quiet = before === claims.length;
    before = claims.length;
    return quiet;
  });
}

/** So long a busy machine surely begins an attempt. */
const SECOND_MS = 1_000;

describe('the line of a tenant', () => {
  test('is served in the order in which it formed', async () => {
    const got: string[] = [];
    const all = ['a', 'b', 'c'].map(async (id) => {
      await claim(id);
      got.push(id);
    });
    await inLine(3);
    tasks = [task('1'), task('2')];
    waiters.ring([1]);
    await until('two are served', () => got.length === 2);
    expect(got).toEqual(['a', 'b']);
    tasks = [task('3')];
    waiters.ring(null);
    await Promise.all(all);
  });

  test('costs one claim for each kind of request when a ring brings nothing', async () => {
    const all = Array.from({ length: 40 }, (_, n) =>
      claim(
        `w${n}`,
        n % 4 === 0 ? { taskTypes: ['review', 'develop'] } : n % 4 === 1 ? {} : { repoIds: n < 20 ? [1, 2] : [2] },
      ),
    );
    await inLine(40);
    claims = [];
    waiters.ring([1]);
    await inLine(40);
    expect(claims.length).toBe(3);
    await waiters.close();
    expect(await Promise.all(all)).toEqual(Array(40).fill(null));
  });

  test('goes past a worker that drains to those behind it', async () => {
    const [first, second] = [claim('a'), claim('b')];
    await inLine(2);
    draining = ['a'];
    tasks = [task('1')];
    waiters.ring([1]);
    expect(await first).toBeNull();
    expect((await second)?.id).toBe('1');
  });

  test('goes past a worker that is unknown, and tells it', async () => {
    const [first, second] = [claim('a'), claim('b')];
    const refused = expect(first).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await inLine(2);
    [held, claims] = [true, []];
    waiters.ring([1]);
    await until('the first is tried', () => claims.length === 1);
    claims[0]?.fail(new AppError('NOT_FOUND', 'Unknown worker'));
    await until('the second is tried', () => claims.length === 2);
    claims[1]?.give(task('1'));
    await refused;
    expect((await second)?.id).toBe('1');
  });

  test('is told at once, all of it, when the store is gone', async () => {
    const all = Promise.allSettled([claim('a'), claim('b', { repoIds: [1] })]);
    await inLine(2);
    [held, claims] = [true, []];
    waiters.ring([1]);
    await until('the first is tried', () => claims.length === 1);
    claims[0]?.fail(new AppError('STORE_UNAVAILABLE', ''));
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(claims.length).toBe(1);
  });

  test('is tried once more for a ring during a round', async () => {
    const answer = claim('a');
    await inLine(1);
    [held, claims] = [true, []];
    waiters.ring([1]);
    await until('it is tried', () => claims.length === 1);
    waiters.ring([1]);
    [held, tasks] = [false, [task('1')]];
    claims[0]?.give(null);
    expect((await answer)?.id).toBe('1');
  });
});

test('a ring between a claim that finds nothing and its standing in line is not missed', async () => {
  const other = claim('a', { taskTypes: ['merge'] });
  await inLine(1);
  [held, claims] = [true, []];
  const answer = claim('b');
  held = false;
  waiters.ring([1]);
  await until('the ring is over', () => claims.length === 2);
  tasks = [task('1')];
  draining = ['a'];
  claims[0]?.give(null);
  expect((await answer)?.id).toBe('1');
  expect(await other).toBeNull();
});

describe('a task that was claimed is never lost', () => {
  /** A claim in line whose attempt is under way. */
  async function trying(signal?: AbortSignal, waitMs?: number) {
    const answer = claim('a', {}, signal, waitMs);
    await inLine(1);
    [held, claims] = [true, []];
    waiters.ring([1]);
    await until('it is tried', () => claims.length === 1);
    return answer;
  }

  test('when the time is over meanwhile: it is handed out', async () => {
    held = true;
    const answer = claim('a', {}, never, SECOND_MS);
    claims[0]?.give(null);
    await until('the second attempt is under way', () => claims.length === 2);
    // Longer than the wait.
    const begun = performance.now();
    await until('the time is over', () => performance.now() - begun > SECOND_MS + 50);
    claims[1]?.give(task('1'));
    expect((await answer)?.id).toBe('1');
  });

  test('when the time is over meanwhile and there is none: that is told', async () => {
    const answer = trying(never, SECOND_MS);
    await until('it is tried', () => held && claims.length === 1);
    const begun = performance.now();
    await until('the time is over', () => performance.now() - begun > SECOND_MS + 50);
    claims[0]?.give(null);
    expect(await answer).toBeNull();
  });

  test('when the process stops meanwhile: it is handed out, and stopping waits for it', async () => {
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

  test('when the caller goes meanwhile: it is given back, and stopping waits for it', async () => {
    const gone = new AbortController();
    const answer = trying(gone.signal);
    await until('it is tried', () => held && claims.length === 1);
    gone.abort();
    claims[0]?.give(task('1'));
    expect(await answer).toBeNull();
    await waiters.settled();
    expect(returned).toEqual(['1']);
  });

  test('when the caller goes while the answer is written: it is given back', async () => {
    const gone = new AbortController();
    tasks = [task('1')];
    expect((await claim('a', {}, gone.signal))?.id).toBe('1');
    gone.abort();
    await waiters.settled();
    expect(returned).toEqual(['1']);
  });
});

test('a caller that has gone, or comes when the process stops, costs no claim', async () => {
  expect(await claim('a', {}, AbortSignal.abort())).toBeNull();
  await waiters.close();
  expect(await claim('a')).toBeNull();
  expect(claims).toEqual([]);
});
