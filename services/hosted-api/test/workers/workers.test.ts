import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { comparedAgentOf } from '@pipeline/domain';
import { actOnIssue, drainWorker, hashToken } from '@pipeline/engine';
import { findIssue, findWorkerScope, jsonb, revokeWorkerToken } from '@pipeline/store';
import { sql } from 'kysely';
import { labelIssue, makeTenant, makeToken, register, type Tenant, testHosted, WORK } from '../support/hosted.ts';

const clock = { now: new Date() };
const hosting = testHosted({ now: () => clock.now });
const { database } = hosting;

/** A worker with a claimed task of a fresh tenant. */
async function claimOne(tenant?: Tenant) {
  const of = tenant ?? (await makeTenant(hosting.api));
  await labelIssue(hosting.api, of.repo, 1);
  const workerId = await register(hosting.api, of.token);
  const claim = () => hosting.api.post('/api/worker/claim', { workerId, taskTypes: WORK }, of);
  const { body } = await claim();
  const on =
    (id: string, claimToken: string) =>
    (action: string, more: object = {}) =>
      hosting.api.post(`/api/worker/tasks/${id}/${action}`, { claimToken, ...more }, of);
  const issue = () => findIssue(database.store.db, of.id, of.repo.id, 1);
  return { tenant: of, workerId, claim, on, issue, task: body.task, say: on(body.task.id, body.task.claimToken) };
}

/** The clock of the store stands until the work is done, `ms` from now. */
async function later<T>(ms: number, work: () => Promise<T>): Promise<T> {
  database.clock.now = new Date(Date.now() + ms);
  try {
    return await work();
  } finally {
    database.clock.now = null;
  }
}

describe('a worker', () => {
  test('lives from its registration over the first two tasks of an issue', async () => {
    const { tenant, workerId, claim, on, issue, task, say } = await claimOne();
    expect(task).toMatchObject({
      taskType: 'analyze',
      repo: `${tenant.repo.owner}/${tenant.repo.name}`,
      issueNumber: 1,
      attempt: 0,
      maxAttempts: 3,
      payload: { issue: { number: 1, title: 'Issue 1' }, branch: 'svc/issue-1', state: 'analyzing' },
    });
    expect(await say('start')).toMatchObject({ status: 200, body: { ok: true } });
    const beat = { workerId, status: 'busy', tasks: [{ taskId: task.id, claimToken: task.claimToken }] };
    expect((await hosting.api.post('/api/worker/heartbeat', beat, tenant)).body).toMatchObject({
      ok: true,
      draining: false,
      cancelTaskIds: [],
    });
    expect((await say('extend')).status).toBe(200);
    expect((await say('progress', { status: 'reading the code' })).body).toEqual({ ok: true });
    expect((await issue())?.current_status).toBe('reading the code');
    const items = [{ invocationIndex: 0, sequence: 0, role: 'assistant', subtype: 'text', content: 'Hm.' }];
    expect((await say('messages', { items })).body).toEqual({ ok: true, stored: 1 });
    expect((await say('complete', { outcome: 'analyzed', result: {} })).body).toEqual({
      ok: true,
      requeued: false,
      attempt: 0,
      state: 'planning',
    });
    const next = (await claim()).body.task;
    expect(next).toMatchObject({ taskType: 'plan', payload: { state: 'planning' } });
    const planned = { outcome: 'planned', result: { plan: 'Do it.', plannedFiles: ['a.ts'] } };
    expect((await on(next.id, next.claimToken)('complete', planned)).body.state).toBe('ready-for-dev');
  });

  test.each([
    ['2026-03-01T02:00:00.123Z', '2026-03-01T02:00:00.123Z'],
    ['2026-03-01T02:00:00.123456+00:00', '2026-03-01T02:00:00.123Z'],
    ['2026-03-01T02:00:00-05:30', '2026-03-01T07:30:00.000Z'],
    ['2026-03-01t02:00:00z', '2026-03-01T02:00:00.000Z'],
  ])('stores messages in UTC when they are stamped %s', async (createdAt, utc) => {
    const { tenant, task, say } = await claimOne();
    const message = { invocationIndex: 0, sequence: 0, role: 'assistant', subtype: 'text', content: 'Hm.' };
    expect((await say('messages', { items: [{ ...message, createdAt }] })).status).toBe(200);
    const rows = await database.db
      .selectFrom('agent_messages')
      .select('created_at')
      .where('tenant_id', '=', tenant.id)
      .where('task_id', '=', task.id)
      .execute();
    expect(rows).toEqual([{ created_at: utc }]);
  });

  test.each([
    '2026-03-01T02:00:00',
    '2026-02-30T02:00:00Z',
    '0000-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59-23:59',
    'yesterday',
  ])('refuses messages that are stamped %s', async (createdAt) => {
    const { say } = await claimOne();
    const message = { invocationIndex: 0, sequence: 0, role: 'assistant', subtype: 'text', content: 'Hm.' };
    const { status, body } = await say('messages', { items: [{ ...message, createdAt }] });
    expect([status, body.code]).toEqual([400, 'INVALID_BODY']);
    expect(body.error).toContain('items.0.createdAt: must be an RFC 3339 date-time');
  });

  test('receives its lease and the interval of heartbeats', async () => {
    const tenant = await makeTenant(hosting.api);
    const { body } = await hosting.api.post('/api/worker/register', { name: 'w', taskTypes: ['plan'] }, tenant);
    expect(body).toMatchObject({ heartbeatIntervalMs: 10_000, leaseMs: 60_000 });
  });

  test('refuses an unknown worker with the advice to register', async () => {
    const { token } = await makeTenant(hosting.api);
    for (const [path, more] of [
      ['heartbeat', { status: 'idle' }],
      ['claim', { taskTypes: WORK }],
    ] as const) {
      const answer = await hosting.api.post(`/api/worker/${path}`, { workerId: 'nobody', ...more }, { token });
      expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
      expect(answer.body.error).toContain('Register first');
    }
  });

  test('a worker that leaves gives its claim back at once', async () => {
    const { tenant, workerId, claim, task } = await claimOne();
    await hosting.api.post('/api/worker/heartbeat', { workerId, status: 'leaving' }, tenant);
    expect((await claim()).body.task).toMatchObject({ id: task.id, attempt: 1 });
  });

  test('a worker that reports a task with an invalid id is answered to drop it', async () => {
    const { tenant, workerId } = await claimOne();
    const tasks = [{ taskId: 'not-a-uuid', claimToken: randomUUID() }];
    const { body } = await hosting.api.post('/api/worker/heartbeat', { workerId, status: 'busy', tasks }, tenant);
    expect(body.cancelTaskIds).toEqual(['not-a-uuid']);
  });
});

describe('a report', () => {
  const analyzed = { outcome: 'analyzed', result: { summary: 'Fine.' } };

  test('given twice gets the same answer and moves the issue once', async () => {
    const { say, issue } = await claimOne();
    const first = await say('complete', analyzed);
    expect((await say('complete', analyzed)).body).toEqual(first.body);
    expect((await issue())?.state).toBe('planning');
  });

  test('refuses a report that differs from the one that was applied', async () => {
    const { say } = await claimOne();
    await say('complete', analyzed);
    const other = await say('complete', { outcome: 'not-planned', result: { reason: 'No.' } });
    expect([other.status, other.body.code]).toEqual([409, 'CLAIM_LOST']);
  });

  test('refuses a report of an outcome that the task cannot have with those it can', async () => {
    const { say, issue } = await claimOne();
    const { status, body } = await say('complete', { outcome: 'approved', result: {} });
    expect([status, body.code]).toEqual([400, 'INVALID_ARGUMENT']);
    expect(body.error).toContain('analyzed, split');
    expect((await issue())?.state).toBe('analyzing');
  });

  test('refuses a report of a claim whose lease is over', async () => {
    const { say } = await claimOne();
    const late = await later(61_000, () => say('complete', analyzed));
    expect([late.status, late.body.code]).toEqual([409, 'CLAIM_LOST']);
  });

  test('refuses a report of a task that was withdrawn as cancelled', async () => {
    const { say, tenant, issue } = await claimOne();
    const issueId = (await issue())?.id ?? 0;
    const actor = { type: 'operator', id: 'ann', agent: null } as const;
    await actOnIssue(hosting.api.owner, { tenantId: tenant.id, issueId }, 'cancel', actor);
    for (const [action, more] of [
      ['complete', analyzed],
      ['extend', {}],
      ['progress', { status: 'x' }],
    ] as const) {
      const answer = await say(action, more);
      expect([answer.status, answer.body.code]).toEqual([410, 'TASK_CANCELLED']);
    }
  });

  test('refuses a report with a foreign token', async () => {
    const { on, task } = await claimOne();
    expect((await on(task.id, randomUUID())('start')).body.code).toBe('CLAIM_LOST');
    expect((await on(randomUUID(), task.claimToken)('start')).body.code).toBe('CLAIM_LOST');
  });

  test('may hold characters that the store cannot keep', async () => {
    const { say, issue } = await claimOne();
    expect((await say('progress', { status: 'nul \0 here', details: { 'k\0': 'half \ud83d' } })).status).toBe(200);
    expect((await issue())?.current_status).toBe('nul \ufffd here');
    const items = [{ invocationIndex: 0, sequence: 0, role: 'user', subtype: 'tool_result', toolOutput: ['\0'] }];
    expect((await say('messages', { items })).status).toBe(200);
  });
});

describe('a failure', () => {
  const failure = { errorMessage: 'connection reset', errorClass: 'transient' };

  test('retries a failed task after its backoff, and then blocks the issue', async () => {
    const { say, claim, on, issue } = await claimOne();
    expect((await say('fail', failure)).body).toEqual({ ok: true, requeued: true, attempt: 0 });
    expect((await claim()).status).toBe(204);
    const heal = hosting.api.context.loops.find((loop) => loop.name === 'queue-healing');
    for (const attempt of [1, 2]) {
      const again = await later(attempt * 700_000, async () => {
        await heal?.tick();
        return (await claim()).body.task;
      });
      expect(again).toMatchObject({ taskType: 'analyze', attempt });
      const answer = await later(attempt * 700_000, () => on(again.id, again.claimToken)('fail', failure));
      expect(answer.body).toEqual({ ok: true, requeued: attempt === 1, attempt });
    }
    expect((await issue())?.state).toBe('failure-blocked');
  });

  test('given twice gets the same answer', async () => {
    const { say } = await claimOne();
    const first = await say('fail', failure);
    expect((await say('fail', failure)).body).toEqual(first.body);
  });
});

test('a claim whose worker fell silent goes back to the queue, without any monitor', async () => {
  const { claim, task } = await claimOne();
  const heal = hosting.api.context.loops.find((loop) => loop.name === 'queue-healing');
  const again = await later(61_000, async () => {
    await heal?.tick();
    return (await claim()).body.task;
  });
  expect(again).toMatchObject({ id: task.id, attempt: 1 });
});

test('a claim that cannot be taken back does not keep tasks from their release after a backoff', async () => {
  const silent = await claimOne();
  const failed = await claimOne();
  await failed.say('fail', { errorMessage: 'connection reset', errorClass: 'transient' });
  const { db } = database;
  await sql`
    create function refuse_task() returns trigger language plpgsql as $$
      begin raise exception 'bad row'; end $$`.execute(db);
  await sql`
    create trigger refuse_task before update on tasks for each row
      when (old.id = ${sql.lit(silent.task.id)}) execute function refuse_task()`.execute(db);
  const heal = hosting.api.context.loops.find((loop) => loop.name === 'queue-healing');
  try {
    const again = await later(700_000, async () => {
      await expect(heal?.tick()).rejects.toThrow('queue healing: 1 of 2 failed');
      return (await failed.claim()).body.task;
    });
    expect(again).toMatchObject({ issueNumber: 1, attempt: 1 });
  } finally {
    await sql`drop function refuse_task cascade`.execute(db);
  }
});

describe('interface: States and transitions, rows of Task', () => {
  test('Task | pending | worker claim', async () => {
    const tenant = await makeTenant(hosting.api);
    await labelIssue(hosting.api, tenant.repo, 1);
    const [draining, working] = [
      await register(hosting.api, tenant.token, 'draining'),
      await register(hosting.api, tenant.token, 'working'),
    ];
    const operator = { type: 'operator', id: 'olga', agent: null } as const;
    await drainWorker(hosting.api.owner, draining, true, operator);
    const claim = (workerId: string) => hosting.api.post('/api/worker/claim', { workerId, taskTypes: WORK }, tenant);
    const rows = () =>
      database.db.selectFrom('tasks').select(['status', 'claimed_by']).where('tenant_id', '=', tenant.id).execute();
    expect((await claim(draining)).status).toBe(204);
    expect(await rows()).toEqual([{ status: 'pending', claimed_by: null }]);
    expect((await claim(working)).body.task).toMatchObject({ taskType: 'analyze', issueNumber: 1 });
    expect(await rows()).toEqual([{ status: 'claimed', claimed_by: working }]);
    expect((await claim(working)).status).toBe(204);
  });
});

describe('agents of a worker', () => {
  test('get the compared tasks that name them, and report calls by their name', async () => {
    const tenant = await makeTenant(hosting.api);
    const compare = { analyze: { claude: 1, codex: 1 } };
    await database.db
      .updateTable('repos')
      .set({ compare: jsonb(compare) })
      .where('id', '=', tenant.repo.id)
      .execute();
    await labelIssue(hosting.api, tenant.repo, 1);
    const agent = comparedAgentOf(compare, { repoId: tenant.repo.id, issueNumber: 1, taskType: 'analyze' });
    const other = agent === 'claude' ? 'codex' : 'claude';
    const post = (path: string, body: object) => hosting.api.post(`/api/worker/${path}`, body, tenant);
    const { workerId } = (await post('register', { name: 'w', taskTypes: WORK, agents: [agent, other] })).body;
    const workers = database.db.selectFrom('workers').select('agents').where('id', '=', workerId);
    expect(await workers.executeTakeFirst()).toEqual({ agents: [agent, other] });
    for (const agents of [{}, { agents: [] }, { agents: [other] }])
      expect((await post('claim', { workerId, taskTypes: WORK, ...agents })).status).toBe(204);
    const { task } = (await post('claim', { workerId, taskTypes: WORK, agents: [other, agent] })).body;
    expect(task).toMatchObject({ taskType: 'analyze', agent });
    const invocations = [{ index: 0, model: 'm', provider: 'p', agent }];
    const outcome = { claimToken: task.claimToken, outcome: 'analyzed', result: {}, invocations };
    expect((await post(`tasks/${task.id}/complete`, outcome)).status).toBe(200);
    const calls = database.db.selectFrom('agent_invocations').select('agent').where('tenant_id', '=', tenant.id);
    expect(await calls.execute()).toEqual([{ agent }]);
  });

  test.each([
    ['an empty name', ['']],
    ['a name with blanks at its end', ['claude ']],
    ['a name of 101 characters', ['x'.repeat(101)]],
    ['21 names', Array.from({ length: 21 }, (_, n) => `agent-${n}`)],
  ])('refuses the agents at the registration and at a claim for %s', async (_, agents) => {
    const tenant = await makeTenant(hosting.api);
    const workerId = await register(hosting.api, tenant.token);
    const refusal = { status: 400, body: { code: 'INVALID_BODY', error: expect.stringMatching(/^agents/) } };
    const post = (path: string, body: object) => hosting.api.post(`/api/worker/${path}`, body, tenant);
    expect(await post('register', { name: 'w', taskTypes: WORK, agents })).toMatchObject(refusal);
    expect(await post('claim', { workerId, taskTypes: WORK, agents })).toMatchObject(refusal);
  });
});

const post = (path: string, body: object, token: string) => hosting.api.post(`/api/worker/${path}`, body, { token });
const registerAs = (token: string, name = 'builder') => post('register', { name, taskTypes: WORK }, token);

/** A worker with a claim, and a second token of its tenant that reaches no repo of it. */
async function twoTokens(): Promise<{ tenant: Tenant; workerId: string; beat: object; other: string }> {
  const tenant = await makeTenant(hosting.api);
  await labelIssue(hosting.api, tenant.repo, 1);
  const { workerId } = (await registerAs(tenant.token)).body;
  const { task } = (await post('claim', { workerId, taskTypes: WORK }, tenant.token)).body;
  const tasks = [{ taskId: task.id, claimToken: task.claimToken }];
  const other = await makeToken(hosting.api.owner.store, tenant.id, []);
  return { tenant, workerId, beat: { workerId, status: 'busy', tasks }, other };
}

describe('the name of a worker', () => {
  test('refuses the name to another token, whose registration would take the claims back', async () => {
    const { tenant, beat, other } = await twoTokens();
    const { status, body } = await registerAs(other);
    expect([status, body.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    expect(body.error).toContain('builder');
    expect((await post('heartbeat', beat, tenant.token)).body.cancelTaskIds).toEqual([]);
  });

  test('the same token gets the same worker', async () => {
    const { tenant, workerId } = await twoTokens();
    expect((await registerAs(tenant.token)).body.workerId).toBe(workerId);
  });

  test('moves to the next token once its own is revoked, and to no third one', async () => {
    const { tenant, workerId, other } = await twoTokens();
    const scope = await findWorkerScope(database.store.db, hashToken(tenant.token));
    await revokeWorkerToken(database.owner.db, scope?.tokenId ?? '');
    expect((await registerAs(other)).body.workerId).toBe(workerId);
    const third = await makeToken(database.owner, tenant.id, null);
    expect((await registerAs(third)).status).toBe(403);
  });

  test('a name is free where another token has another name, and in another tenant', async () => {
    const { other } = await twoTokens();
    expect((await registerAs(other, 'tester')).status).toBe(200);
    const elsewhere = await makeTenant(hosting.api);
    expect((await registerAs(elsewhere.token)).status).toBe(200);
  });

  test('goes to one of two tokens that ask for it at the same moment', async () => {
    const tenant = await makeTenant(hosting.api);
    const tokens = [
      tenant.token,
      ...(await Promise.all([1, 2, 3].map(() => makeToken(database.owner, tenant.id, null)))),
    ];
    const answers = await Promise.all(tokens.map((token) => registerAs(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403]);
  });

  test('a name without a recorded token goes to the first token that registers it', async () => {
    const { tenant, workerId, other } = await twoTokens();
    await database.db.updateTable('workers').set({ token_id: null }).where('tenant_id', '=', tenant.id).execute();
    expect((await post('heartbeat', { workerId, status: 'idle' }, tenant.token)).status).toBe(200);
    expect((await registerAs(other)).body.workerId).toBe(workerId);
    expect((await registerAs(tenant.token)).status).toBe(403);
  });
});

describe('the id of a worker', () => {
  test.each(['idle', 'leaving'])('gives another token no right to say that it is %s', async (status) => {
    const { tenant, workerId, beat, other } = await twoTokens();
    const answer = await post('heartbeat', { workerId, status }, other);
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
    expect((await post('heartbeat', beat, tenant.token)).body.cancelTaskIds).toEqual([]);
  });

  test('gives another token no right to claim for it', async () => {
    const { tenant, workerId } = await twoTokens();
    const wide = await makeToken(database.owner, tenant.id, null);
    await labelIssue(hosting.api, tenant.repo, 2);
    expect((await post('claim', { workerId, taskTypes: WORK }, wide)).status).toBe(404);
  });
});
