import { describe, expect, test } from '@jest/globals';
import { act, autoUnblock, fail, transition } from '@pipeline/engine';
import { applyHostIssue, claimNext, drain, finish, hostIssue, refOf, take, workUntil } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const stage = new Stage();

describe('discarded when no longer wanted', () => {
  test('the merge of an issue that was cancelled while it waited in the outbox', async () => {
    await workUntil(stage, 'merge-pending');
    await stage.work();
    await act(stage.engine, await stage.key(), 'cancel', OLGA);
    await drain(stage);
    expect(stage.host.executed.map(({ type }) => type)).not.toContain('mergePR');
  });

  test('the subtasks of an epic that was cancelled before they were created', async () => {
    const subtasks = [{ title: 'part', body: '', labels: [] }];
    await finish(stage, await take(stage), { outcome: 'split', result: { subtasks } });
    await act(stage.engine, await stage.key(), 'cancel', OLGA);
    await drain(stage);
    expect(stage.host.executed.map(({ type }) => type)).not.toContain('createIssue');
  });

  test('the reopening on the host of an issue that a person has closed there meanwhile', async () => {
    await act(stage.engine, await stage.key(), 'cancel', OLGA);
    await drain(stage);
    await transition(stage.engine, await stage.key(), 'new', OLGA);
    await applyHostIssue(stage, hostIssue(1, { state: 'closed' }), { action: 'closed' });
    await drain(stage);
    expect((await stage.issue()).state).toBe('done');
    expect(stage.host.executed.map(({ type }) => type)).not.toContain('reopenIssue');
  });

  test('a failed merge of an issue that was sent back blocks no later one', async () => {
    await workUntil(stage, 'merge-pending');
    await stage.work();
    stage.refuse('forbidden');
    await stage.send('mergePR');
    await transition(stage.engine, await stage.key(), 'changes-requested', OLGA);
    await workUntil(stage, 'done').catch(() => undefined);
    expect((await stage.issue()).state).toBe('done');
  });

  test('the automatic lift of a block that became permanent', async () => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const task = await claimNext(stage);
      if (!task) throw new Error('nothing to claim');
      await fail(stage.engine, refOf(stage, task), {
        errorMessage: 'socket hang up',
        errorClass: 'transient',
        invocations: [],
      });
      await act(stage.engine, await stage.key(), 'retry', OLGA);
      if (attempt < 2)
        await stage.database.db
          .updateTable('tasks')
          .set({ attempt: attempt + 1 })
          .where('tenant_id', '=', stage.tenantId)
          .execute();
    }
    expect(await stage.issue()).toMatchObject({ state: 'failure-blocked', auto_unblock_at: expect.anything() });
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
