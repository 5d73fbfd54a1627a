import { describe, expect, test } from '@jest/globals';
import { actOnIssue } from '@pipeline/engine';
import { findIssue, inTransaction } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { labelIssue, makeTenant, register, type Tenant, WORK } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

const { database } = hosting;

const waiting = () => hosting.api.context.waiters.size;
const inLine = (n: number) => until(`${n} wait`, () => waiting() === n);

async function claimer(tenant: Tenant, name = 'w1', taskTypes: string[] = WORK) {
  const workerId = await register(hosting.api, tenant.token, name);
  const claim = (waitMs: number, signal?: AbortSignal) =>
    hosting.api.post(
      '/api/worker/claim',
      { workerId, taskTypes, waitMs },
      { token: tenant.token, ...(signal && { signal }) },
    );
  return { workerId, claim };
}

describe('a claim that waits', () => {
  test('answers as soon as a task is enqueued', async () => {
    // Notifications alone: no slow poll comes in time.
    const api = await hosting.start({ claimPollMs: 3_600_000 });
    const tenant = await makeTenant(api);
    const workerId = await register(api, tenant.token);
    const answer = api.post('/api/worker/claim', { workerId, taskTypes: WORK, waitMs: 30_000 }, tenant);
    await until('it waits', () => api.context.waiters.size === 1);
    await labelIssue(hosting.api, tenant.repo, 7);
    expect((await answer).body.task).toMatchObject({ issueNumber: 7, taskType: 'analyze' });
    expect(api.context.waiters.size).toBe(0);
  });

  test('answers without a task when its time is over', async () => {
    const { claim } = await claimer(await makeTenant(hosting.api));
    expect((await claim(20)).status).toBe(204);
    expect(waiting()).toBe(0);
  });

  test('finds a task whose notification was lost by the slow poll', async () => {
    const tenant = await makeTenant(hosting.api);
    const { claim } = await claimer(tenant);
    const answer = claim(30_000);
    await inLine(1);
    const mute = { ...hosting.api.owner, notify: () => undefined };
    await labelIssue({ ...hosting.api, owner: mute }, tenant.repo, 7);
    expect((await answer).status).toBe(200);
  });

  test('does not hold up those behind it when the task is not for it', async () => {
    const tenant = await makeTenant(hosting.api);
    const gone = new AbortController();
    const merger = (await claimer(tenant, 'merger', ['merge'])).claim(30_000, gone.signal);
    await inLine(1);
    const analyzer = (await claimer(tenant, 'analyzer', ['analyze'])).claim(30_000);
    await inLine(2);
    await labelIssue(hosting.api, tenant.repo, 7);
    expect((await analyzer).body.task.taskType).toBe('analyze');
    gone.abort();
    await expect(merger).rejects.toThrow();
    await inLine(0);
  });

  test('a task of another tenant does not wake the claim, which holds no connection', async () => {
    const [one, two] = [await makeTenant(hosting.api), await makeTenant(hosting.api)];
    const gone = new AbortController();
    const claims = [];
    for (let n = 0; n < 30; n += 1) claims.push((await claimer(one, `w${n}`)).claim(30_000, gone.signal));
    const settled = Promise.allSettled(claims);
    await inLine(30);
    await labelIssue(hosting.api, two.repo, 7);
    expect((await (await claimer(two)).claim(0)).status).toBe(200);
    expect(waiting()).toBe(30);
    gone.abort();
    await settled;
    await inLine(0);
  });

  test('answers without a task when its worker begins to drain', async () => {
    const tenant = await makeTenant(hosting.api);
    const { workerId, claim } = await claimer(tenant);
    const other = await claimer(tenant, 'w2');
    const first = claim(30_000);
    await inLine(1);
    const second = other.claim(30_000);
    await inLine(2);
    await database.store.db
      .updateTable('workers')
      .set({ draining: true })
      .where('tenant_id', '=', tenant.id)
      .where('id', '=', workerId)
      .execute();
    await labelIssue(hosting.api, tenant.repo, 7);
    expect((await first).status).toBe(204);
    expect((await second).body.task.issueNumber).toBe(7);
    expect((await claim(30_000)).status).toBe(204);
    const beat = await hosting.api.post('/api/worker/heartbeat', { workerId, status: 'idle' }, tenant);
    expect(beat.body.draining).toBe(true);
  });

  test('answers without a task when the process stops', async () => {
    const api = await hosting.start();
    const tenant = await makeTenant(api);
    const workerId = await register(api, tenant.token);
    const claims = [1, 2, 3].map(() =>
      api.post('/api/worker/claim', { workerId, taskTypes: WORK, waitMs: 30_000 }, tenant),
    );
    await until('three wait', () => api.context.waiters.size === 3);
    await api.close();
    expect((await Promise.all(claims)).map(({ status }) => status)).toEqual([204, 204, 204]);
  });
});

test('sixteen that wait get sixteen tasks, each once', async () => {
  const tenant = await makeTenant(hosting.api);
  const claims = [];
  for (let n = 0; n < 16; n += 1) claims.push((await claimer(tenant, `w${n}`)).claim(30_000));
  await inLine(16);
  await Promise.all(Array.from({ length: 16 }, (_, n) => labelIssue(hosting.api, tenant.repo, n + 1)));
  const issues = (await Promise.all(claims)).map(({ body }) => body.task.issueNumber);
  expect(issues.sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, n) => n + 1));
});

/** Claims whose callers had gone before the answer was complete. */
async function abandoned(): Promise<number> {
  const text = await hosting.api.context.metrics.registry.metrics();
  return Number(/claimTask",method="POST",status="499"} (\d+)/.exec(text)?.[1] ?? 0);
}

describe('a worker that goes away', () => {
  test('a worker that goes away before there is a task gets none', async () => {
    const tenant = await makeTenant(hosting.api);
    const gone = new AbortController();
    const answer = (await claimer(tenant)).claim(30_000, gone.signal);
    await inLine(1);
    gone.abort();
    await expect(answer).rejects.toThrow();
    await inLine(0);
    await labelIssue(hosting.api, tenant.repo, 7);
    expect((await (await claimer(tenant, 'w2')).claim(0)).body.task.attempt).toBe(0);
  });

  test('while its claim commits costs the task no attempt, and a pause meanwhile holds', async () => {
    const tenant = await makeTenant(hosting.api);
    const { workerId, claim } = await claimer(tenant);
    await labelIssue(hosting.api, tenant.repo, 7);
    const issue = await findIssue(database.store.db, tenant.id, tenant.repo.id, 7);
    const task = () =>
      database.store.db
        .selectFrom('tasks')
        .select(['status', 'held', 'attempt'])
        .where('tenant_id', '=', tenant.id)
        .executeTakeFirst();
    const { promise: answerMayGo, resolve: letAnswerGo } = Promise.withResolvers<void>();
    const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
    // The claim notes that its worker is busy once it has committed: there it waits for this transaction.
    const holder = inTransaction(database.store.db, async (tx) => {
      await tx
        .updateTable('workers')
        .set({ hostname: 'here' })
        .where('tenant_id', '=', tenant.id)
        .where('id', '=', workerId)
        .execute();
      onLocked();
      await answerMayGo;
    });
    await locked;
    const before = await abandoned();
    const gone = new AbortController();
    const answer = claim(30_000, gone.signal);
    await until('the claim has committed', async () => (await task())?.status === 'claimed');
    gone.abort();
    await expect(answer).rejects.toThrow();
    await until('the API has noticed', async () => (await abandoned()) > before);
    const key = { tenantId: tenant.id, issueId: issue?.id ?? 0 };
    const actor = { type: 'operator', id: 'ann', agent: null } as const;
    // It waits for the issue, which the claim holds until its worker is noted.
    const paused = actOnIssue(hosting.api.owner, key, 'pause', actor);
    letAnswerGo();
    await Promise.all([holder, paused]);
    await until('the claim was given back', async () => (await task())?.status === 'pending');
    expect(await task()).toEqual({ status: 'pending', held: 'paused', attempt: 0 });
    await actOnIssue(hosting.api.owner, key, 'resume', actor);
    expect((await claim(0)).body.task).toMatchObject({ issueNumber: 7, attempt: 0 });
  });
});

describe('a claim with a key', () => {
  const KEY = '6f1c2a9e-3b4d-4c5e-8f60-718293a4b5c6';

  test('gets the same task again when it is repeated, also at another replica and in other letter case', async () => {
    const tenant = await makeTenant(hosting.api);
    const workerId = await register(hosting.api, tenant.token);
    await labelIssue(hosting.api, tenant.repo, 7);
    await labelIssue(hosting.api, tenant.repo, 8);
    const other = await hosting.start({});
    const body = { workerId, taskTypes: WORK, waitMs: 0, claimKey: KEY };
    const first = await hosting.api.post('/api/worker/claim', body, tenant);
    expect(first).toMatchObject({ status: 200, body: { task: { issueNumber: 7 } } });
    const again = await other.post('/api/worker/claim', { ...body, claimKey: KEY.toUpperCase() }, tenant);
    expect(again.body).toEqual(first.body);
    const next = await hosting.api.post('/api/worker/claim', { ...body, claimKey: KEY.replace('6', '7') }, tenant);
    expect(next.body.task).toMatchObject({ issueNumber: 8 });
  });

  test('refuses a key that is no UUID', async () => {
    const tenant = await makeTenant(hosting.api);
    const workerId = await register(hosting.api, tenant.token);
    const body = { workerId, taskTypes: WORK, waitMs: 0, claimKey: '1' };
    expect((await hosting.api.post('/api/worker/claim', body, tenant)).status).toBe(400);
  });
});
