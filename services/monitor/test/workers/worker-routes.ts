import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type ClaimedTask, claim, heartbeat, progress, registerWorker, watchSilence } from '@pipeline/engine';
import { jsonb } from '@pipeline/store';
import { sql } from 'kysely';
import { admit, makeBench, tellIssue } from '../support/bench.ts';
import { serveApp } from '../support/served-app.ts';
import { Shop } from '../support/shop.ts';
import { database } from './database.ts';

describe('workers', () => {
  const bench = new Shop(database);
  const { call } = bench;
  const START = Date.parse('2026-03-01T00:00:00Z');
  let number = 0;
  let workerId = '';

  /** One worker, one issue that waits for analysis, and nothing of the tests before. */
  beforeEach(async () => {
    at(0);
    number += 1;
    await sql`delete from tasks`.execute(database.db);
    await sql`update workers set left_at = svc_now()`.execute(database.db);
    workerId = await register(`w${number}`);
    await admit(bench, number);
  });

  const at = (seconds: number) => {
    database.clock.now = new Date(START + seconds * 1_000);
  };
  const iso = (seconds: number) => new Date(START + seconds * 1_000).toISOString();
  const register = (name: string, repos: string[] = ['acme/shop']) =>
    registerWorker(bench.engine, bench.tenantId, {
      name,
      hostname: '',
      version: '1.2.3',
      repos,
      taskTypes: ['analyze', 'plan'],
      labels: {},
    });
  const take = async (id = workerId): Promise<ClaimedTask> => {
    const request = { tenantId: bench.tenantId, workerId: id, taskTypes: ['analyze' as const], repoIds: null };
    const task = await claim(bench.engine, request);
    if (!task) throw new Error('nothing to claim');
    return task;
  };
  const beat = (...tasks: ClaimedTask[]) =>
    heartbeat(bench.engine, {
      tenantId: bench.tenantId,
      workerId,
      status: 'busy',
      tasks: tasks.map(({ id, claimToken }) => ({ taskId: id, claimToken })),
    });
  const taskRow = () => database.db.selectFrom('tasks').selectAll().executeTakeFirstOrThrow();

  interface Entry {
    id: string;
    status: string;
    alert: object | null;
    queueDepth: number;
    currentTask: { etaMinutes: number | null } | null;
  }
  const floor = async () =>
    ((await call('GET', '/api/workers/floor')).json as never as { items: Entry[]; snapshot: true }).items;
  const entry = async (id = workerId) => (await floor()).find((item) => item.id === id);
  const drain = (body: unknown, id = workerId) => call('POST', `/api/workers/${id}/drain`, { body });
  const reclaim = (id = workerId) => call('POST', `/api/workers/${id}/reclaim`);

  describe('POST /api/workers/:id/drain', () => {
    test('resumes when false, and may be repeated', async () => {
      await drain({ drain: true });
      for (let i = 0; i < 2; i += 1)
        expect((await drain({ drain: false })).json).toEqual({ ok: true, draining: false });
      expect(await entry()).toMatchObject({ status: 'idle' });
      expect(await take()).toMatchObject({ issueNumber: number });
    });

    test.each([
      ['{"drain":', 'Invalid JSON body', 'INVALID_JSON'],
      ['', 'Invalid JSON body', 'INVALID_JSON'],
      [{}, 'Missing required boolean field: drain', 'INVALID_BODY'],
      [{ drain: 'true' }, 'Missing required boolean field: drain', 'INVALID_BODY'],
      [{ drain: null }, 'Missing required boolean field: drain', 'INVALID_BODY'],
      [[], 'Missing required boolean field: drain', 'INVALID_BODY'],
    ])('400 for %j: %s', async (body, error, code) => {
      expect((await drain(body)).json).toEqual({ error, code, status: 400 });
    });

    test('404 for an id that no worker can have', async () => {
      for (const id of ['%00', 'x'.repeat(300)])
        expect((await drain({ drain: true }, id)).json).toMatchObject({ code: 'NOT_FOUND', status: 404 });
    });

    test('404 for an unknown worker', async () => {
      expect((await drain({ drain: true }, 'wkr_none')).json).toEqual({
        error: 'Worker not found: wkr_none',
        code: 'NOT_FOUND',
        status: 404,
      });
    });

    test('500 Failed to set worker drain status', async () => {
      await sql`alter table workers rename column draining to gone`.execute(database.db);
      const answer = await drain({ drain: true });
      await sql`alter table workers rename column gone to draining`.execute(database.db);
      expect(answer.json).toEqual({ error: 'Failed to set worker drain status', code: 'INTERNAL_ERROR', status: 500 });
    });
  });

  describe('GET /api/workers/floor', () => {
    test('an idle worker, with every field', async () => {
      expect(await entry()).toEqual({
        id: workerId,
        name: `w${number}`,
        status: 'idle',
        draining: false,
        currentTask: null,
        queueDepth: 1,
        utilization8hPct: 0,
        lastHeartbeat: iso(0),
        idle: true,
        alert: null,
      });
    });

    test('a running one, with its task', async () => {
      const task = await take();
      at(10);
      expect(await entry()).toEqual({
        id: workerId,
        name: `w${number}`,
        status: 'running',
        draining: false,
        currentTask: {
          id: task.id,
          type: 'analyze',
          issueNumber: number,
          repo: 'Acme/Shop',
          pipelineState: 'analyzing',
          etaMinutes: null,
        },
        queueDepth: 0,
        utilization8hPct: 100,
        lastHeartbeat: iso(0),
        idle: false,
        alert: null,
      });
    });

    test('a task of a whole repo has no issue and no state', async () => {
      await sql`update tasks set issue_id = null, issue_number = 0, task_type = 'code-map-scan', status = 'claimed',
      claimed_by = ${workerId}, claimed_at = ${iso(0)}, lease_expires_at = ${iso(60)}, progress_at = ${iso(0)}`.execute(
        database.db,
      );
      expect(await entry()).toMatchObject({
        currentTask: { type: 'code-map-scan', issueNumber: null, pipelineState: null },
      });
    });

    test('the queue depth is that of the repos a worker serves; without any, of all of its tenant', async () => {
      const elsewhere = await makeBench(database.store, 'acme/other');
      await admit(elsewhere, number);
      const all = await register(`all${number}`, []);
      const both = await register(`both${number}`, ['ACME/shop', 'acme/other']);
      const none = await register(`none${number}`, ['acme/unknown']);
      expect(await Promise.all([workerId, all, both, none].map(async (id) => (await entry(id))?.queueDepth))).toEqual([
        1, 2, 2, 0,
      ]);
    });

    test('silent for more than 30 s: offline, and needs attention, before the upkeep has noticed and after', async () => {
      at(31);
      const silent = { status: 'offline', alert: { reason: 'silent', since: iso(30), humanAssignee: null } };
      expect(await entry()).toMatchObject(silent);
      await watchSilence(bench.engine);
      expect(await entry()).toMatchObject(silent);
    });

    test('silent while it drains: offline, and still draining', async () => {
      await drain({ drain: true });
      expect(await entry()).toMatchObject({ status: 'draining', draining: true });
      at(31);
      expect(await entry()).toMatchObject({ status: 'offline', draining: true });
      await drain({ drain: false });
      expect(await entry()).toMatchObject({ status: 'offline', draining: false });
    });

    test('silent with a task: stalled', async () => {
      await take();
      at(31);
      expect(await entry()).toMatchObject({ status: 'stalled', alert: { reason: 'silent', since: iso(30) } });
    });

    test('the alert names the person the issue in progress is assigned to', async () => {
      await take();
      at(31);
      const assign = (assignees: string[], second: number) =>
        tellIssue(bench, number, { action: 'assigned', assignees, updatedAt: iso(second) });
      expect(await entry()).toMatchObject({ alert: { humanAssignee: null } });
      await assign(['Pipeline-Bot', 'anna', 'ben'], 20);
      expect(await entry()).toMatchObject({ alert: { reason: 'silent', humanAssignee: 'anna' } });
      await assign(['Pipeline-Bot'], 21);
      expect(await entry()).toMatchObject({ alert: { humanAssignee: null } });
    });

    test('heartbeats without progress for the stall limit: stalled, since then', async () => {
      const task = await take();
      await progress(
        bench.engine,
        { tenantId: bench.tenantId, taskId: task.id, claimToken: task.claimToken },
        { status: 'reading', details: null, invocations: [] },
      );
      for (let second = 20; second <= 920; second += 20) {
        at(second);
        await beat(task);
      }
      expect(await entry()).toMatchObject({ status: 'stalled', alert: { reason: 'stalled', since: iso(900) } });
    });

    test('one that left is not shown; one that is silent is, for a day', async () => {
      await heartbeat(bench.engine, { tenantId: bench.tenantId, workerId, status: 'leaving', tasks: [] });
      const silent = await register(`silent${number}`);
      at(86_399);
      await watchSilence(bench.engine);
      expect((await floor()).map(({ id }) => id)).toEqual([silent]);
      at(86_401);
      await watchSilence(bench.engine);
      expect(await floor()).toEqual([]);
    });
  });

  describe('POST /api/workers/:id/reclaim', () => {
    test('returns reclaimed false without a stalled task, for no task and for an unknown worker', async () => {
      expect((await reclaim()).json).toEqual({ ok: true, reclaimed: false });
      await take();
      expect((await reclaim()).json).toEqual({ ok: true, reclaimed: false });
      for (const id of ['wkr_none', '%00', 'x'.repeat(300)])
        expect((await reclaim(id)).json).toEqual({ ok: true, reclaimed: false });
      expect(await taskRow()).toMatchObject({ status: 'claimed' });
    });

    test('the id is URL-decoded', async () => {
      const {
        id: _,
        name,
        labels,
        ...like
      } = await database.db.selectFrom('workers').selectAll().where('id', '=', workerId).executeTakeFirstOrThrow();
      workerId = `host/a b%${number}`;
      await database.db
        .insertInto('workers')
        .values({ ...like, id: workerId, name: `${name} b`, labels: jsonb(labels) })
        .execute();
      const task = await take();
      at(31);
      expect((await reclaim(encodeURIComponent(workerId))).json).toMatchObject({ reclaimed: true, taskId: task.id });
    });

    test('one of several concurrent calls gets the task', async () => {
      await take();
      at(61);
      const answers = await Promise.all([reclaim(), reclaim(), reclaim()]);
      const reclaimed = answers.map(({ json }) => (json as { reclaimed: boolean }).reclaimed);
      expect(reclaimed.filter(Boolean)).toHaveLength(1);
      expect(await taskRow()).toMatchObject({ attempt: 1 });
    });

    test('records the reclaim in the history, with the operator', async () => {
      const task = await take();
      at(61);
      await reclaim();
      const { payload, issue_number } = await database.db
        .selectFrom('pipeline_events')
        .select(['payload', 'issue_number'])
        .where('event_type', '=', 'operator_action')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow();
      expect([issue_number, payload]).toEqual([
        number,
        { action: 'worker-reclaim', workerId, taskId: task.id, actorId: 'olga', reason: null },
      ]);
    });

    test('500 RECLAIM_FAILED', async () => {
      await take();
      at(61);
      await sql`alter table runs rename column error_class to gone`.execute(database.db);
      const answer = await reclaim();
      await sql`alter table runs rename column gone to error_class`.execute(database.db);
      expect([answer.status, answer.json]).toMatchObject([500, { code: 'RECLAIM_FAILED', status: 500 }]);
      expect(await taskRow()).toMatchObject({ status: 'claimed' });
    });
  });

  describe('GET /api/workers', () => {
    interface Listed {
      items: { id: string }[];
    }
    const list = async () => (await call('GET', '/api/workers')).json as never as Listed;

    test('those with a recent heartbeat, with what they do', async () => {
      const task = await take();
      const all = await register(`all${number}`, []);
      expect(await list()).toEqual({
        items: [
          {
            id: all,
            repo: null,
            status: 'idle',
            taskTypes: ['analyze', 'plan'],
            currentTaskId: null,
            lastHeartbeat: iso(0),
            startedAt: iso(0),
            version: '1.2.3',
          },
          {
            id: workerId,
            repo: 'acme/shop',
            status: 'busy',
            taskTypes: ['analyze', 'plan'],
            currentTaskId: task.id,
            lastHeartbeat: iso(0),
            startedAt: iso(0),
            version: '1.2.3',
          },
        ],
        snapshot: true,
      });
    });

    test('lists no worker that fell silent', async () => {
      at(31);
      expect((await list()).items).toEqual([]);
      await beat();
      expect((await list()).items.map(({ id }) => id)).toEqual([workerId]);
    });
  });

  describe('503 Pipeline store not available', () => {
    test.each([
      ['GET', '/api/workers', undefined],
      ['GET', '/api/workers/floor', undefined],
      ['GET', '/api/queue/depth', undefined],
      ['POST', '/api/workers/w/drain', { drain: true }],
      ['POST', '/api/workers/w/drain', {}],
      ['POST', '/api/workers/w/reclaim', undefined],
    ])('%s %s', async (method, path, body) => {
      const { call: without, close: end } = await serveApp();
      expect((await without(method, path, { body })).json).toEqual({
        error: 'Pipeline store not available',
        code: 'STORE_UNAVAILABLE',
        status: 503,
      });
      await end();
    });
  });

  afterAll(() => database.clear());
});
