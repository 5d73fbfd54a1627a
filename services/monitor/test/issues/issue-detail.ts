import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { fail, progress, report } from '@pipeline/engine';
import { insertRetrospective, inTransaction, updateIssue } from '@pipeline/store';
import { sql } from 'kysely';
import { admit } from '../support/bench.ts';
import { Shop } from '../support/shop.ts';
import { claimWork } from '../workers/agent-work.ts';
import { database } from './database.ts';

describe('the detail of an issue', () => {
  const bench = new Shop(database);
  const { call } = bench;
  const START = Date.parse('2026-03-01T12:00:00.000Z');
  let number = 0;
  let issueId = 0;

  const at = (seconds: number) => {
    database.clock.now = new Date(START + seconds * 1_000);
  };
  const iso = (seconds: number) => new Date(START + seconds * 1_000).toISOString();

  beforeEach(async () => {
    at(0);
    number += 1;
    issueId = await admit(bench, number);
  });

  const get = (suffix: string, issue: number | string = number) =>
    call('GET', `/api/issues/acme/shop/${issue}/${suffix}`);
  const put = (change: Parameters<typeof updateIssue>[3]) =>
    updateIssue(database.db as never, bench.tenantId, issueId, change);

  /** Claims the work of the newest issue. */
  async function take() {
    await sql`update tasks set held = 'quota' where issue_id <> ${issueId}`.execute(database.db);
    return claimWork(bench, `w${number}`);
  }
  const failWith = async (errorMessage: string) =>
    fail(bench.engine, await take(), { errorMessage, errorClass: 'transient', invocations: [] });
  const leave = async (...bodies: string[]) => {
    const artefacts = bodies.map((body, n) => ({ kind: 'log', mediaType: 'text/plain', title: `Log ${n}`, body }));
    await report(bench.engine, await take(), {
      outcome: 'analyzed',
      result: {},
      artefacts,
      findings: [],
      invocations: [],
    });
    const run = await database.db
      .selectFrom('runs')
      .select('id')
      .where('issue_id', '=', issueId)
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow();
    return run.id;
  };
  const retro = (summary: string) =>
    inTransaction(database.store.db, (tx) =>
      insertRetrospective(
        tx,
        bench.tenantId,
        { repoId: bench.repo.id, issueId, runId: null as never },
        {
          outcomeClassification: 'success',
          summary,
          plannedFiles: { files: ['a.ts'] },
          actualFiles: null,
          failures: null,
          lessons: { kept: 'short' },
        },
      ),
    );

  describe('GET digest', () => {
    test('the digest of an issue in work has its tasks, and no problem', async () => {
      const { json } = await get('digest');
      expect(json).toEqual({
        issue: {
          issueNumber: number,
          title: `Issue ${number}`,
          state: 'analyzing',
          isBlocked: false,
          isPaused: false,
          blockReason: null,
          blockedFromState: null,
          stateEnteredAt: iso(0),
        },
        blockClassification: null,
        autoUnblockCount: 0,
        maxAutoUnblocks: 3,
        recentFailedRuns: [],
        activeTasks: [{ taskType: 'analyze', status: 'pending', claimedBy: null }],
        recommendations: expect.any(Array),
      });
    });

    test('the digest of a blocked issue has its class, the latest failures and what would help', async () => {
      await failWith('the host answered 502');
      await put({ state: 'failure-blocked', is_blocked: true, block_reason: 'agent_timeout', auto_unblock_count: 2 });
      await put({ block_classification: 'transient', blocked_from_state: 'analyzing' });
      const { json } = await get('digest');
      expect(json).toMatchObject({
        issue: {
          state: 'failure-blocked',
          isBlocked: true,
          blockReason: 'agent_timeout',
          blockedFromState: 'analyzing',
        },
        blockClassification: 'transient',
        autoUnblockCount: 2,
        maxAutoUnblocks: 3,
        recentFailedRuns: [{ agentName: 'analyzer', errorMessage: 'the host answered 502', finishedAt: iso(0) }],
        recommendations: expect.arrayContaining([expect.any(String)]),
      });
    });

    test('the ten newest failures, newest first', async () => {
      await failWith('first');
      await sql`
      insert into runs (tenant_id, task_id, work_id, repo_id, issue_id, task_type, attempt, agent, worker_id,
        claim_token_hash, claimed_at, lease_expires_at, error_message)
      select tenant_id, task_id, work_id, repo_id, issue_id, task_type, n, agent, worker_id, 'digest-' || n, claimed_at,
        lease_expires_at, 'failure ' || n
      from runs, generate_series(1, 12) n where issue_id = ${issueId}`.execute(database.db);
      const { recentFailedRuns } = (await get('digest')).json as { recentFailedRuns: { errorMessage: string }[] };
      expect(recentFailedRuns.map(({ errorMessage }) => errorMessage)).toEqual(
        Array.from({ length: 10 }, (_, n) => `failure ${12 - n}`),
      );
    });

    test('a block without a class is unknown; an issue that is not blocked has none', async () => {
      await put({ state: 'dependency-blocked', is_blocked: true });
      expect((await get('digest')).json).toMatchObject({ blockClassification: 'unknown' });
      await put({ state: 'planning', is_blocked: false, block_classification: 'permanent' });
      expect((await get('digest')).json).toMatchObject({ blockClassification: null });
    });

    test('an issue without a record is null', async () => {
      expect(await get('digest', 99_999)).toMatchObject({
        status: 200,
        json: { issue: null, blockClassification: null, recentFailedRuns: [], activeTasks: [], recommendations: [] },
      });
    });
  });

  describe('GET status', () => {
    test('shows the last status message of the agent', async () => {
      const task = await take();
      at(30);
      await progress(bench.engine, task, { status: 'reading the tests', details: null, invocations: [] });
      expect((await get('status')).json).toEqual({
        currentStatus: 'reading the tests',
        state: 'analyzing',
        stateEnteredAt: iso(0),
        lastEventAt: iso(30),
      });
    });

    test('an issue that is not in the pipeline is not found', async () => {
      const { json } = await get('status', 99_999);
      expect(json).toEqual({ error: 'Issue not found: Acme/Shop#99999', code: 'NOT_FOUND', status: 404 });
    });
  });

  interface Events {
    items: { id: number; issueId: number; status: string; createdAt: string }[];
    page: object;
  }

  describe('GET events', () => {
    const say = async (count: number) => {
      const task = await take();
      for (let n = 1; n <= count; n += 1) {
        at(n);
        await progress(bench.engine, task, { status: `step ${n}`, details: { n }, invocations: [] });
      }
      return task;
    };
    /** Events at times that have microseconds. */
    const addEvents = async (...times: string[]) => {
      for (const time of times) {
        await sql`
        insert into issue_events (tenant_id, issue_id, actor_type, status, state, created_at)
        values (${bench.tenantId}, ${issueId}, 'system', ${`at ${time}`}, 'analyzing', ${`${time}Z`}::timestamptz)`.execute(
          database.db,
        );
      }
    };
    const events = async (query = '') => (await get(`events${query}`)).json as never as Events;
    const steps = ({ items }: Events) => items.map(({ status }) => status);

    test('newest first, with who said it and in which state', async () => {
      const task = await say(2);
      const { items, page } = await events();
      expect(page).toEqual({ total: null, limit: 50, offset: 0, hasMore: false });
      expect(items[0]).toEqual({
        id: expect.any(Number),
        issueId,
        actorType: 'agent',
        actorId: expect.stringContaining(''),
        status: 'step 2',
        details: { n: 2 },
        state: 'analyzing',
        createdAt: iso(2).replace('Z', '000Z'),
      });
      expect(task.issueNumber).toBe(number);
      expect(items.at(-1)).toMatchObject({ createdAt: iso(0).replace('Z', '000Z') });
    });

    test('pages say that there is more, and count nothing', async () => {
      await say(3);
      const first = await events('?limit=2');
      expect([steps(first), first.page]).toEqual([
        ['step 3', 'step 2'],
        { total: null, limit: 2, offset: 0, hasMore: true },
      ]);
      expect(steps(await events('?limit=1&offset=2'))).toEqual(['step 1']);
    });

    test.each([
      ['?limit=0', { limit: 1, offset: 0 }],
      ['?limit=-7', { limit: 1, offset: 0 }],
      ['?limit=201', { limit: 200, offset: 0 }],
      ['?offset=-1', { limit: 50, offset: 0 }],
    ])('%s is clamped', async (query, page) => {
      expect((await events(query)).page).toMatchObject(page);
    });

    test('since: only later events, by a timestamp or back from now', async () => {
      await say(3);
      expect(steps(await events(`?since=${iso(2)}`))).toEqual(['step 3']);
      expect(steps(await events(`?since=${iso(3)}`))).toEqual([]);
      expect(steps(await events(`?since=${iso(2).replace('Z', '%2B00:00')}`))).toEqual(['step 3']);
      expect(steps(await events(`?since=${iso(2).replace('Z', '')}`))).toEqual(['step 3']);
      expect(steps(await events('?since=2s'))).toEqual(['step 3', 'step 2']);
      expect(steps(await events('?since=2026-03-01T12:00:02'))).toEqual(['step 3']);
    });

    test('since: excludes the event whose createdAt is given and returns one of the same millisecond', async () => {
      await addEvents(`${iso(9).slice(0, -1)}400`, `${iso(9).slice(0, -1)}900`);
      const [newest, older] = (await events()).items;
      expect([newest?.createdAt, older?.createdAt]).toEqual([
        `${iso(9).slice(0, -1)}900Z`,
        `${iso(9).slice(0, -1)}400Z`,
      ]);
      expect(steps(await events(`?since=${newest?.createdAt}`))).toEqual([]);
      expect(steps(await events(`?since=${older?.createdAt}`))).toEqual([newest?.status]);
      expect(steps(await events(`?since=${iso(9)}`))).toEqual([newest?.status, older?.status]);
    });

    test('since: returns an event of a transaction that began earlier and committed later', async () => {
      at(5);
      await call('POST', `/api/issues/acme/shop/${number}/pause`);
      const [newest] = (await events()).items;
      at(4);
      await call('POST', `/api/issues/acme/shop/${number}/resume`);
      expect(steps(await events(`?since=${newest?.createdAt}`))).toEqual(['resume by operator']);
    });

    test.each(['limit=', 'limit=many', 'limit=1.5', 'offset=x', 'since=yesterday', 'since=2026-13-01'])(
      '%s is refused',
      async (query) => {
        const { json } = await get(`events?${query}`);
        const [name = ''] = query.split('=');
        expect(json).toMatchObject({ status: 400, code: 'INVALID_INPUT', error: expect.stringContaining(name) });
      },
    );

    test('an issue that is not in the pipeline is not found', async () => {
      expect((await get('events', 99_999)).json).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    });
  });

  describe('GET retrospective', () => {
    test('null before there is one; then the newest', async () => {
      expect((await get('retrospective')).json).toEqual({ retrospective: null });
      await retro('It went well.');
      at(5);
      await retro('It went well again.');
      expect((await get('retrospective')).json).toEqual({
        retrospective: {
          id: expect.any(String),
          issueNumber: number,
          status: 'complete',
          outcomeClassification: 'success',
          summary: 'It went well again.',
          plannedFiles: { files: ['a.ts'] },
          actualFiles: null,
          failures: null,
          lessons: { kept: 'short' },
          createdAt: iso(5),
          updatedAt: iso(5),
        },
      });
    });

    test('null for an unknown issue or repo', async () => {
      expect((await get('retrospective', 99_999)).json).toEqual({ retrospective: null });
      expect((await call('GET', '/api/issues/nobody/shop/1/retrospective')).json).toEqual({ retrospective: null });
    });
  });

  describe('GET artefacts', () => {
    test('returns all artefacts of an issue and of a run, oldest first', async () => {
      const runId = await leave('one', 'two');
      const all = {
        items: ['one', 'two'].map((body, n) => ({
          id: expect.any(Number),
          runId,
          issueId,
          kind: 'log',
          mediaType: 'text/plain',
          title: `Log ${n}`,
          body,
          createdAt: iso(0),
        })),
        snapshot: true,
        truncated: false,
      };
      expect((await get('artefacts')).json).toEqual(all);
      expect((await call('GET', `/api/runs/${runId}/artefacts`)).json).toEqual(all);
    });

    test('returns the artefacts of every run of the issue', async () => {
      const runId = await leave('first');
      await sql`
      insert into artefacts (tenant_id, run_id, issue_id, kind, media_type, title, body)
      values (${bench.tenantId}, ${runId + 1_000}, ${issueId}, 'plan', 'text/markdown', 'Plan', 'second'),
        (${bench.tenantId}, ${runId + 1_000}, null, 'map', 'text/plain', 'Map', 'of the repo')`.execute(database.db);
      const { items } = (await get('artefacts')).json as { items: { body: string; issueId: number | null }[] };
      expect(items.map(({ body, issueId: of }) => [body, of])).toEqual([
        ['first', issueId],
        ['second', issueId],
      ]);
      const run = (await call('GET', `/api/runs/${runId + 1_000}/artefacts`)).json;
      expect(run).toMatchObject({ items: [{ issueId }, { issueId: null, body: 'of the repo' }] });
    });

    test('cuts artefacts that are too large all together from the oldest on, and reports it', async () => {
      const runId = await leave('old');
      await sql`
      insert into artefacts (tenant_id, run_id, issue_id, kind, media_type, title, body)
      select ${bench.tenantId}, ${runId}, ${issueId}, 'log', 'text/plain', 'Log ' || n, repeat('x', 1024 * 1024)
      from generate_series(1, 32) n`.execute(database.db);
      const { items, truncated } = (await get('artefacts')).json as { items: { title: string }[]; truncated: boolean };
      expect([items.length, items[0]?.title, truncated]).toEqual([32, 'Log 1', true]);
    });

    test('none of an unknown issue, repo or run', async () => {
      const none = { items: [], snapshot: true, truncated: false };
      expect((await get('artefacts', 99_999)).json).toEqual(none);
      expect((await call('GET', '/api/issues/acme/elsewhere/1/artefacts')).json).toEqual(none);
      expect((await call('GET', '/api/runs/999999999/artefacts')).json).toEqual(none);
    });

    test.each(['x', '-1', '1.5', '%20', '9999999999999999'])('run %s is no number', async (run) => {
      expect((await call('GET', `/api/runs/${run}/artefacts`)).json).toMatchObject({
        status: 400,
        code: 'INVALID_INPUT',
      });
    });
  });

  describe('GET why', () => {
    test('returns the record that connections read', async () => {
      const { status, json } = await get('why');
      expect([status, json]).toEqual([
        200,
        expect.objectContaining({
          repo: 'Acme/Shop',
          issueNumber: number,
          state: 'analyzing',
          isBlocked: false,
          explanation: expect.stringContaining(`Acme/Shop#${number}`),
          waitingOn: [expect.objectContaining({ kind: 'worker' })],
        }),
      ]);
    });

    test('an unknown issue and an unknown repo are not found, each by its name', async () => {
      expect((await get('why', 99_999)).json).toEqual({
        error: 'Issue not found: Acme/Shop#99999',
        code: 'ISSUE_NOT_FOUND',
        status: 404,
      });
      const elsewhere = await call('GET', '/api/issues/acme/elsewhere/1/why');
      expect(elsewhere.json).toEqual({ error: 'Repo not found: acme/elsewhere', code: 'NOT_FOUND', status: 404 });
    });
  });

  afterAll(() => database.clear());
});
