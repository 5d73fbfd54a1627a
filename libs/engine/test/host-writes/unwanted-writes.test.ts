import { describe, expect, test } from '@jest/globals';
import { actOnIssue, autoUnblock, fail, retryDeadLetter, steerProjection, transitionIssue } from '@pipeline/engine';
import { applyHostIssue, claimNext, drain, finish, hostIssue, refOf, take, workUntil } from '../harness.ts';
import { hostPull, reportReview } from '../host-pulls.ts';
import { OLGA, Stage } from '../stage.ts';

const stage = new Stage();

const deadLetter = () =>
  stage.database.db
    .selectFrom('dead_letters')
    .select('id')
    .where('tenant_id', '=', stage.tenantId)
    .executeTakeFirstOrThrow();

describe('discards', () => {
  test('a pending merge when its issue is cancelled', async () => {
    await workUntil(stage, 'merge-pending');
    await stage.work();
    await actOnIssue(stage.engine, await stage.key(), 'cancel', OLGA);
    await drain(stage);
    expect(stage.host.executed.map(({ type }) => type)).not.toContain('mergePR');
  });

  test('uncreated subtasks when their epic is cancelled', async () => {
    const subtasks = [{ title: 'part', body: '', labels: [] }];
    await finish(stage, await take(stage), { outcome: 'split', result: { subtasks } });
    await actOnIssue(stage.engine, await stage.key(), 'cancel', OLGA);
    await drain(stage);
    expect(stage.host.executed.map(({ type }) => type)).not.toContain('createIssue');
  });

  test('a pending reopening when a person has closed the issue on the host', async () => {
    await actOnIssue(stage.engine, await stage.key(), 'cancel', OLGA);
    await drain(stage);
    await transitionIssue(stage.engine, await stage.key(), 'new', OLGA);
    await applyHostIssue(stage, hostIssue(1, { state: 'closed' }), { action: 'closed' });
    await drain(stage);
    expect((await stage.issue()).state).toBe('done');
    expect(stage.host.executed.map(({ type }) => type)).not.toContain('reopenIssue');
  });

  test('a failed reopening when its dead letter is retried after the issue is done again', async () => {
    await actOnIssue(stage.engine, await stage.key(), 'cancel', OLGA);
    await drain(stage);
    await transitionIssue(stage.engine, await stage.key(), 'new', OLGA);
    stage.refuse('Issues are locked');
    await stage.send('reopenIssue');
    await actOnIssue(stage.engine, await stage.key(), 'cancel', OLGA);
    const { id } = await deadLetter();
    await retryDeadLetter(stage.engine, id, OLGA);
    stage.host.executed.length = 0;
    await drain(stage);
    expect(stage.host.executed.map(({ type }) => type)).not.toContain('reopenIssue');
  });

  test('a failed merge when its issue was sent back, so that a later one is sent', async () => {
    await workUntil(stage, 'merge-pending');
    await stage.work();
    stage.refuse('forbidden');
    await stage.send('mergePR');
    await transitionIssue(stage.engine, await stage.key(), 'changes-requested', OLGA);
    await workUntil(stage, 'done').catch(() => undefined);
    expect((await stage.issue()).state).toBe('done');
  });

  test('a merge when its issue is sent back while the host refuses it', async () => {
    await workUntil(stage, 'merge-pending');
    await stage.work();
    const { execute } = stage.host;
    stage.host.execute = async (...write) => {
      stage.host.execute = execute;
      await transitionIssue(stage.engine, await stage.key(), 'changes-requested', OLGA);
      stage.refuse('Pull request is closed');
      return execute(...write);
    };
    await stage.send('mergePR');
    expect(await stage.entry('mergePR')).toMatchObject({ status: 'discarded' });
    const deadLetters = stage.database.db.selectFrom('dead_letters').where('tenant_id', '=', stage.tenantId);
    expect(await deadLetters.execute()).toEqual([]);
    await workUntil(stage, 'done').catch(() => undefined);
    expect((await stage.issue()).state).toBe('done');
  });

  test.each([
    ['a person requests changes', () => reportReview(stage, 1_001, { verdict: 'changes_requested' })],
    ['an operator cancels its issue', async () => actOnIssue(stage.engine, await stage.key(), 'cancel', OLGA)],
  ])('a merge when %s while its checks are read', async (_name, act) => {
    await workUntil(stage, 'merge-pending');
    await stage.work();
    stage.host.checksOf = async () => {
      await act();
      return [];
    };
    await stage.send('mergePR');
    expect(stage.host.executed.map(({ type }) => type)).not.toContain('mergePR');
    expect(await stage.entry('mergePR')).toMatchObject({ status: 'discarded' });
  });

  test('a failed merge when its dead letter is retried after the approval was dismissed', async () => {
    await workUntil(stage, 'in-review');
    await finish(stage, await take(stage), { outcome: 'needs-human', result: { reason: 'look' } });
    await reportReview(stage, 1_001, { id: 78_001 });
    await stage.work();
    stage.refuse('forbidden');
    await stage.send('mergePR');
    await reportReview(stage, 1_001, { id: 78_001, verdict: 'dismissed' });
    const { id } = await deadLetter();
    await retryDeadLetter(stage.engine, id, OLGA);
    await drain(stage);
    expect((await stage.issue()).state).toBe('human-review-ready');
    expect(await stage.entry('mergePR')).toMatchObject({ status: 'discarded' });
  });

  test('a withdrawn merge when an operator retries its entry', async () => {
    await workUntil(stage, 'merge-pending');
    await stage.work();
    await reportReview(stage, 1_001, { verdict: 'changes_requested' });
    await steerProjection(stage.engine, (await stage.entry('mergePR')).id, 'retry', OLGA);
    await drain(stage);
    expect((await stage.issue()).state).toBe('changes-requested');
    expect(await stage.entry('mergePR')).toMatchObject({ status: 'discarded' });
  });

  test.each([
    ['discarded', 'not made', false],
    ['complete', 'made', true],
  ])('a merge in doubt that is sent back ends as %s when the host has %s it', async (status, _made, merged) => {
    await workUntil(stage, 'merge-pending');
    await stage.work();
    stage.host.nextResults.push({ status: 'failed', message: 'socket hang up', ambiguous: true });
    await stage.send('mergePR');
    await transitionIssue(stage.engine, await stage.key(), 'changes-requested', OLGA);
    stage.pass(60);
    stage.host.pulls.set(1_001, hostPull(stage, { merged, state: merged ? 'closed' : 'open' }));
    await stage.send('mergePR');
    expect(await stage.entry('mergePR')).toMatchObject({ status });
    expect((await stage.issue()).state).toBe(merged ? 'done' : 'changes-requested');
  });

  test('a refused pull request when a newer submission opens it, so that its lane continues', async () => {
    await workUntil(stage, 'ready-for-dev');
    await stage.work();
    stage.refuse('A pull request already exists');
    await stage.send('createPR');
    await transitionIssue(stage.engine, await stage.key(), 'changes-requested', OLGA);
    await workUntil(stage, 'done').catch(() => undefined);
    expect((await stage.issue()).state).toBe('done');
  });

  test('a pull request in doubt when a newer submission is queued and the host refuses the older one', async () => {
    await workUntil(stage, 'ready-for-dev');
    await stage.work();
    stage.host.nextResults.push({ status: 'failed', message: 'socket hang up', ambiguous: true });
    const { id } = await stage.entry('createPR');
    await stage.send(id);
    await transitionIssue(stage.engine, await stage.key(), 'changes-requested', OLGA);
    await stage.work();
    stage.pass(60);
    stage.refuse('A pull request already exists');
    await stage.send(id);
    const deadLetters = stage.database.db.selectFrom('dead_letters').where('tenant_id', '=', stage.tenantId);
    expect(await deadLetters.execute()).toEqual([]);
    await workUntil(stage, 'done').catch(() => undefined);
    expect((await stage.issue()).state).toBe('done');
  });

  test('the automatic lift of a block when a person retries it, and a permanent failure sets none', async () => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const task = await claimNext(stage);
      if (!task) throw new Error('nothing to claim');
      await fail(stage.engine, refOf(stage, task), {
        errorMessage: 'socket hang up',
        errorClass: 'transient',
        invocations: [],
      });
      await actOnIssue(stage.engine, await stage.key(), 'retry', OLGA);
      if (attempt < 2)
        await stage.database.db
          .updateTable('tasks')
          .set({ attempt: attempt + 1 })
          .where('tenant_id', '=', stage.tenantId)
          .execute();
    }
    expect(await stage.issue()).toMatchObject({ state: 'failure-blocked', auto_unblock_at: null });
    const task = await take(stage);
    await fail(stage.engine, refOf(stage, task), {
      errorMessage: 'permission denied',
      errorClass: 'permanent',
      invocations: [],
    });
    stage.pass(3_600);
    expect(await autoUnblock(stage.engine)).toBe(0);
    expect(await stage.issue()).toMatchObject({ state: 'failure-blocked', auto_unblock_at: null });
  });
});
