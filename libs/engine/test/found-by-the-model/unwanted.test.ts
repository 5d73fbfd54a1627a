import { describe, expect, test } from '@jest/globals';
import { act, autoUnblock, claim, fail, transition } from '@pipeline/engine';
import { ALL_TASKS, drain, finish, refOf, take, workUntil } from '../harness.ts';
import { OLGA, Stage } from './stage.ts';

const stage = new Stage();

describe('what is not wanted any more does not happen after all', () => {
  test('the merge of an issue that was cancelled while it waited in the outbox', async () => {
    await workUntil(stage.bench, 'merge-pending');
    await stage.work();
    await act(stage.bench.engine, await stage.key(), 'cancel', OLGA);
    await drain(stage.bench);
    expect(stage.bench.host.executed.map(({ type }) => type)).not.toContain('mergePR');
  });

  test('the parts of an epic that was cancelled before they were made', async () => {
    const subtasks = [{ title: 'part', body: '', labels: [] }];
    await finish(stage.bench, await take(stage.bench), { outcome: 'split', result: { subtasks } });
    await act(stage.bench.engine, await stage.key(), 'cancel', OLGA);
    await drain(stage.bench);
    expect(stage.bench.host.executed.map(({ type }) => type)).not.toContain('createIssue');
  });

  test('a failed merge of work that was sent back holds no later one', async () => {
    await workUntil(stage.bench, 'merge-pending');
    await stage.work();
    stage.refuse('forbidden');
    await stage.send('mergePR');
    await transition(stage.bench.engine, await stage.key(), 'changes-requested', OLGA);
    await workUntil(stage.bench, 'done').catch(() => undefined);
    expect((await stage.issue()).state).toBe('done');
  });

  test('the automatic end of a block that turned out to be permanent', async () => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const task = await claim(stage.bench.engine, { ...stage.bench, taskTypes: ALL_TASKS, repoIds: null });
      if (!task) throw new Error('nothing to claim');
      await fail(stage.bench.engine, refOf(stage.bench, task), {
        errorMessage: 'socket hang up',
        errorClass: 'transient',
        invocations: [],
      });
      await act(stage.bench.engine, await stage.key(), 'retry', OLGA);
      if (attempt < 2)
        await stage.database.db
          .updateTable('tasks')
          .set({ attempt: attempt + 1 })
          .where('tenant_id', '=', stage.bench.tenantId)
          .execute();
    }
    expect(await stage.issue()).toMatchObject({ state: 'failure-blocked', auto_unblock_at: expect.anything() });
    const task = await take(stage.bench);
    await fail(stage.bench.engine, refOf(stage.bench, task), {
      errorMessage: 'permission denied',
      errorClass: 'permanent',
      invocations: [],
    });
    stage.pass(3_600);
    expect(await autoUnblock(stage.bench.engine)).toBe(0);
    expect(await stage.issue()).toMatchObject({ state: 'failure-blocked', auto_unblock_at: null });
  });
});
