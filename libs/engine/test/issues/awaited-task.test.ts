import { describe, expect, test } from '@jest/globals';
import { actOnIssue } from '@pipeline/engine';
import { drain, finish, goodOutcome, take, workUntil } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const stage = new Stage();

const act = async (action: Parameters<typeof actOnIssue>[2]) =>
  actOnIssue(stage.engine, await stage.key(), action, OLGA);

const tasks = async (): Promise<string[]> => {
  const of = stage.database.db.selectFrom('tasks').select('task_type').where('tenant_id', '=', stage.tenantId);
  return (await of.where('issue_id', 'is not', null).execute()).map(({ task_type }) => task_type);
};

/** Until the issue is in review and its pull request has not been opened yet. */
const submitWhilePaused = async (): Promise<void> => {
  await workUntil(stage, 'ready-for-dev');
  const task = await take(stage);
  await act('pause');
  await finish(stage, task, goodOutcome(task.taskType, task.issueNumber ?? 0));
  expect((await stage.issue()).state).toBe('in-review');
};

describe('creates no review before the pull request is opened', () => {
  test('creates no review when an issue that was submitted while it was paused is resumed', async () => {
    await submitWhilePaused();
    await act('resume');
    expect(await tasks()).toEqual([]);
    await drain(stage);
    expect(await tasks()).toEqual(['review']);
    await workUntil(stage, 'merge-pending');
    await stage.work();
    await drain(stage);
    expect((await stage.issue()).state).toBe('done');
  });

  test('creates no review when the issue is retried', async () => {
    await workUntil(stage, 'ready-for-dev');
    await stage.work();
    await act('retry');
    expect(await tasks()).toEqual([]);
    await drain(stage);
    expect(await tasks()).toEqual(['review']);
  });
});

test('creates no development before the old branch is removed when an issue is paused, started again and resumed', async () => {
  await workUntil(stage, 'in-review');
  await drain(stage);
  await act('pause');
  await act('reimplement');
  await act('resume');
  expect([(await stage.issue()).state, await tasks()]).toEqual(['ready-for-dev', []]);
  await drain(stage);
  expect(await tasks()).toEqual(['develop']);
});

describe('creates no second merge while the first one waits for the host', () => {
  test.each(['resume', 'retry'] as const)('creates no second merge when the action is %s', async (action) => {
    await workUntil(stage, 'merge-pending');
    await stage.work();
    if (action === 'resume') await act('pause');
    await act(action);
    expect(await tasks()).toEqual([]);
    await drain(stage);
    expect((await stage.issue()).state).toBe('done');
    expect(stage.host.executed.filter(({ type }) => type === 'mergePR')).toHaveLength(1);
  });
});
