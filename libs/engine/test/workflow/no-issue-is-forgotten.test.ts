import { describe, expect, test } from '@jest/globals';
import {
  actOnIssue,
  beginSending,
  releaseWaiting,
  retryDeadLetter,
  settle,
  steerProjection,
  transitionIssue,
} from '@pipeline/engine';
import { jsonb } from '@pipeline/store';
import { applyHostIssue, drain, finish, hostIssue, take, workUntil } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const stage = new Stage();

describe('no issue is forgotten', () => {
  test('a merge without an open pull request is a dead letter that names the remedy', async () => {
    await workUntil(stage, 'merge-pending');
    await stage.database.db
      .updateTable('pull_requests')
      .set({ state: 'closed' })
      .where('tenant_id', '=', stage.tenantId)
      .execute();
    await stage.work();
    expect(await stage.openDeadLetters()).toMatchObject([
      { error: expect.stringContaining('no open pull request'), target_state: 'done' },
    ]);
  });

  test('a discarded pull request leaves a dead letter whose retry opens it after all', async () => {
    await workUntil(stage, 'ready-for-dev');
    await stage.work();
    await steerProjection(stage.engine, (await stage.entry('createPR')).id, 'discard', OLGA);
    const [deadLetter] = await stage.openDeadLetters();
    expect(deadLetter).toMatchObject({ error: 'createPR: discarded by an operator', target_state: 'in-review' });
    await retryDeadLetter(stage.engine, deadLetter?.id ?? '', OLGA);
    await drain(stage);
    expect((await take(stage)).taskType).toBe('review');
  });

  test('a subtask that the host refuses, and a review that holds the merge behind it, leave dead letters', async () => {
    await workUntil(stage, 'in-review');
    await stage.work();
    stage.refuse('line 1 is not part of the diff');
    await stage.send('submitReview');
    expect(await stage.openDeadLetters()).toMatchObject([{ error: 'submitReview: line 1 is not part of the diff' }]);

    await applyHostIssue(stage, hostIssue(2));
    const task = await take(stage, ['analyze']);
    const subtasks = [{ title: 'part', body: '', labels: [] }];
    await finish(stage, task, { outcome: 'split', result: { subtasks } });
    stage.refuse('issues are disabled');
    await stage.send('createIssue');
    expect(await stage.openDeadLetters()).toMatchObject([{}, { error: 'createIssue: issues are disabled' }]);
  });

  test('an epic continues when its subtask was done before their edge was inserted', async () => {
    await applyHostIssue(stage, hostIssue(2));
    const second = await stage.key(2);
    await actOnIssue(stage.engine, second, 'cancel', OLGA);
    const subtasks = [{ title: 'part', body: '', labels: [] }];
    await finish(stage, await take(stage), { outcome: 'split', result: { subtasks } });
    const sending = await beginSending(stage.engine, stage.tenantId, (await stage.entry('createIssue')).id);
    if (!sending) throw new Error('not pending');
    await settle(stage.engine, sending, { status: 'ok', repeated: true, created: { number: 2 } });
    await releaseWaiting(stage.engine);
    expect((await stage.issue()).state).toBe('human-review-ready');
  });

  test('a subtask that depends on its epic becomes a question, because of the cycle', async () => {
    const subtasks = [{ title: 'part', body: '', labels: [] }];
    await finish(stage, await take(stage), { outcome: 'split', result: { subtasks } });
    await drain(stage);
    const answer = await finish(stage, await take(stage), { outcome: 'depends', result: { on: ['#1'] } });
    expect(answer.state).toBe('needs-clarification');
  });

  test('a dependency without a record ends with its close on the host', async () => {
    await finish(stage, await take(stage), { outcome: 'depends', result: { on: ['#77'] } });
    await applyHostIssue(stage, hostIssue(77, { labels: [], state: 'closed' }), { action: 'closed' });
    await releaseWaiting(stage.engine);
    expect((await stage.issue()).state).toBe('analyzing');
  });

  test('a workflow without the edge is reported once, not at every tick', async () => {
    await stage.database.db
      .updateTable('workflow_snapshots')
      .set({ body: jsonb(await withoutTrigger('dependencies-done')) })
      .where('tenant_id', '=', stage.tenantId)
      .execute();
    await transitionIssue(stage.engine, await stage.key(), 'dependency-blocked', OLGA);
    for (let tick = 0; tick < 3; tick += 1) await releaseWaiting(stage.engine);
    expect(await stage.openDeadLetters()).toHaveLength(1);
  });
});

async function withoutTrigger(trigger: string) {
  const { body } = await stage.database.db
    .selectFrom('workflow_snapshots')
    .select('body')
    .where('tenant_id', '=', stage.tenantId)
    .executeTakeFirstOrThrow();
  return { ...body, edges: body.edges.filter((edge) => edge.trigger !== trigger) };
}
