import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_WORKFLOW, STATES, type State } from '@pipeline/domain';
import { autoUnblock } from '@pipeline/engine';
import { findIssue, lockWorkTask, updateIssue } from '@pipeline/store';
import { admit } from '../support/bench.ts';
import { Shop } from '../support/shop.ts';
import { database } from './database.ts';

describe('rows of issues', () => {
  const bench = new Shop(database);
  const { call } = bench;
  let number = 0;
  let issueId = 0;

  const fresh = async () => {
    number += 1;
    issueId = await admit(bench, number);
  };
  beforeEach(fresh);

  const post = (action: string, body?: unknown) => call('POST', `/api/issues/acme/shop/${number}/${action}`, { body });
  const issue = async () => {
    const row = await findIssue(database.db, bench.tenantId, bench.repo.id, number);
    if (!row) throw new Error('no issue');
    return row;
  };
  const put = (change: Parameters<typeof updateIssue>[3]) =>
    updateIssue(database.db as never, bench.tenantId, issueId, change);
  const task = () => database.db.transaction().execute((tx) => lockWorkTask(tx, bench.tenantId, issueId));

  /** A fresh issue that stands in a state, with no task, as one that got there by some way. */
  async function standIn(state: State): Promise<void> {
    await fresh();
    await database.db.deleteFrom('tasks').where('issue_id', '=', issueId).execute();
    const isBlocked = state.endsWith('-blocked');
    await put({ state, is_blocked: isBlocked, blocked_from_state: isBlocked ? 'planning' : null });
  }

  /** The newest change of labels that was queued for the host. */
  const swapAsked = async () => (await swapsAsked())[0];
  const swapsAsked = async () => {
    const rows = await database.db
      .selectFrom('projections')
      .select('action')
      .where('issue_id', '=', issueId)
      .orderBy('id', 'desc')
      .execute();
    return rows.map(({ action }) => action).filter(({ type }) => type === 'swapLabels');
  };
  /** Types of the events of the issue, and the last thing that an operator did to it. */
  const events = async () => {
    const rows = await database.db
      .selectFrom('pipeline_events')
      .select(['event_type', 'payload'])
      .where('issue_id', '=', issueId)
      .orderBy('id')
      .execute();
    const last = rows.findLast(({ event_type }) => event_type === 'operator_action');
    return { types: rows.map(({ event_type }) => event_type), operation: last?.payload };
  };
  const lastMove = () =>
    database.db
      .selectFrom('transitions')
      .select(['from_state', 'to_state', 'reason', 'forced', 'actor_id'])
      .where('issue_id', '=', issueId)
      .orderBy('id', 'desc')
      .executeTakeFirst();

  const WAYS = DEFAULT_WORKFLOW.edges.map(({ from, to }) => [from, to] as const);
  const EDGES = [...new Map(WAYS.map((way) => [way.join(' -> '), way])).values()];

  describe('interface: States and transitions, rows of Issue', () => {
    test('Issue | any | POST transition', async () => {
      const reason = '  Seen it,\n move on. ';
      for (const [from, to] of EDGES) {
        await standIn(from);
        expect([from, to, (await post('transition', { targetState: to, reason })).json]).toEqual([
          from,
          to,
          { ok: true, from, to },
        ]);
        // What enters at the top goes on by itself.
        expect((await issue()).state).toBe(to === 'new' ? 'analyzing' : to);
        const { types, operation } = await events();
        expect(types).toContain('state_transition');
        expect(operation).toMatchObject({ action: 'transition', actorId: 'olga', reason });
      }
      await fresh();
      await post('transition', { targetState: 'planning', reason });
      expect(await lastMove()).toEqual({
        from_state: 'analyzing',
        to_state: 'planning',
        reason,
        forced: true,
        actor_id: 'olga',
      });
      expect((await task())?.task_type).toBe('plan');
    });

    test.each(STATES)('Issue | any | POST cancel: %s', async (state) => {
      await standIn(state);
      expect((await post('cancel')).json).toEqual({ ok: true });
      expect((await issue()).state).toBe('done');
      expect(await task()).toBeUndefined();
    });

    test.each(STATES.filter((state) => state !== 'done'))('Issue | any | POST pause: %s', async (state) => {
      await standIn(state);
      expect((await post('pause', { reason: 'holidays' })).json).toEqual({ ok: true });
      expect(await issue()).toMatchObject({ is_paused: true, state });
      expect(await swapAsked()).toMatchObject({ add: expect.arrayContaining(['svc:paused']) });
      const { types, operation } = await events();
      expect(types).toContain('issue_paused');
      expect(operation).toMatchObject({ action: 'pause', actorId: 'olga', reason: 'holidays' });
    });

    test('Issue | any | POST pause: its work is held, and repeating changes nothing', async () => {
      await post('pause');
      await post('pause');
      expect((await task())?.held).toBe('paused');
      expect((await events()).types.filter((type) => type === 'issue_paused')).toHaveLength(1);
    });

    test('Issue | paused | POST resume', async () => {
      await post('pause');
      expect((await post('resume')).json).toEqual({ ok: true, state: 'analyzing' });
      expect(await issue()).toMatchObject({ is_paused: false });
      expect(await swapAsked()).toMatchObject({ remove: ['svc:paused'] });
      expect(await task()).toMatchObject({ task_type: 'analyze', status: 'pending', held: null });
      expect((await events()).types).toContain('issue_resumed');
    });

    test.each(['failure-blocked', 'dependency-blocked'] as const)(
      'Issue | blocked | POST unblock: %s',
      async (state) => {
        await standIn(state);
        await put({ labels: ['svc:blocked', `svc:${state}`] });
        expect((await post('unblock')).json).toEqual({ ok: true, state: 'planning' });
        expect(await issue()).toMatchObject({ state: 'planning', is_blocked: false });
        expect(await swapAsked()).toMatchObject({ remove: expect.arrayContaining(['svc:blocked']) });
        expect(await task()).toMatchObject({ task_type: 'plan', status: 'pending', held: null });
        expect((await events()).operation).toMatchObject({ action: 'unblock', actorId: 'olga' });
      },
    );

    test.each(STATES)('Issue | any | POST retry: %s', async (state) => {
      await standIn(state);
      expect((await post('retry')).json).toEqual({ ok: true, state });
      expect((await issue()).state).toBe(state);
      // A failed one has the work of the state that failed done again; states of waiting and of people have none.
      const worked = state === 'failure-blocked' ? 'planning' : state;
      const taskType = DEFAULT_WORKFLOW.states.find(({ name }) => name === worked)?.taskType ?? undefined;
      expect((await task())?.task_type).toBe(taskType);
      if (taskType) expect(await task()).toMatchObject({ status: 'pending', attempt: 0, held: null });
    });

    test.each(['pause', 'resume', 'unblock', 'retry'])(
      '%s answers 200 without effect when the issue is done',
      async (action) => {
        await post('cancel');
        const before = await issue();
        const written = async () => (await swapsAsked()).length;
        const swaps = await written();
        expect((await post(action)).json).toEqual(action === 'pause' ? { ok: true } : { ok: true, state: 'done' });
        const { last_event_at: _at, updated_at: _updated, ...after } = await issue();
        expect(before).toMatchObject(after);
        expect([await task(), await written()]).toEqual([undefined, swaps]);
        const { types, operation } = await events();
        expect(types).not.toContain(action === 'pause' ? 'issue_paused' : 'issue_resumed');
        expect(operation).toMatchObject({ action, actorId: 'olga' });
      },
    );

    test('transition to new starts an issue again when it is done', async () => {
      await post('cancel');
      expect((await post('transition', { targetState: 'new', reason: 'again' })).json).toMatchObject({
        ok: true,
        to: 'new',
      });
      expect([(await issue()).state, (await task())?.task_type]).toEqual(['analyzing', 'analyze']);
    });

    test('Issue | transient block | automatic unblock', async () => {
      const block = async (count: number) => {
        await standIn('failure-blocked');
        const past = new Date(Date.now() - 1_000).toISOString();
        await put({ block_classification: 'transient', auto_unblock_count: count, auto_unblock_at: past });
      };
      await block(2);
      expect(await autoUnblock(bench.engine)).toBe(1);
      expect(await issue()).toMatchObject({ state: 'planning', is_blocked: false, auto_unblock_count: 3 });
      expect((await task())?.task_type).toBe('plan');

      await block(3);
      expect(await autoUnblock(bench.engine)).toBe(0);
      expect(await issue()).toMatchObject({ state: 'failure-blocked', is_blocked: true, auto_unblock_count: 3 });

      await block(0);
      const settings = bench.engine.settings();
      const selfHealing = { ...settings.selfHealing, autoUnblockTransient: false };
      expect(await autoUnblock({ ...bench.engine, settings: () => ({ ...settings, selfHealing }) })).toBe(0);
      expect(await issue()).toMatchObject({ state: 'failure-blocked', auto_unblock_count: 0 });
    });
  });

  afterAll(() => database.clear());
});
