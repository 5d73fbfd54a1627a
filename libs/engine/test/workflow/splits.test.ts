import { expect, test } from '@jest/globals';
import type { Outcome } from '@pipeline/domain';
import { type ClaimedTask, transitionIssue } from '@pipeline/engine';
import { claimNext, drain, finish, take } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage();

const split = (count: number, labels: string[] = []): Outcome => ({
  outcome: 'split',
  result: { subtasks: Array.from({ length: count }, (_, index) => ({ title: `part ${index}`, body: '', labels })) },
});

const created = async () =>
  (await bench.entries()).flatMap(({ action }) => (action.type === 'createIssue' ? [action.labels] : []));

test('a subtask is not split again: a person is asked', async () => {
  await finish(bench, await take(bench), split(2));
  await drain(bench);
  const subtask = await claimNext(bench);
  await finish(bench, subtask as ClaimedTask, split(2));
  expect(await bench.issue(subtask?.issueNumber ?? 0)).toMatchObject({
    state: 'needs-clarification',
    question: expect.stringContaining('It is a subtask itself'),
  });
  expect(await created()).toHaveLength(2);
});

test('an issue that is split again has at most 20 subtasks in all', async () => {
  await finish(bench, await take(bench), split(15));
  await drain(bench);
  await transitionIssue(bench.engine, await bench.key(), 'planning', OLGA);
  await finish(bench, await take(bench, ['plan']), split(6));
  expect(await bench.issue()).toMatchObject({
    state: 'needs-clarification',
    question: 'It would have 21 subtasks, and at most 20 are allowed. Which of them are needed?',
  });
  expect(await created()).toHaveLength(15);
});

test('a subtask gets the requested labels of its epic and no other one', async () => {
  await bench.database.db
    .updateTable('issues')
    .set({ labels: ['bug', 'svc:urgent', 'svc:analyzing'] })
    .where('id', '=', (await bench.issue()).id)
    .execute();
  await finish(bench, await take(bench), split(1, ['bug', 'deploy', 'svc:enqueue', 'svc:urgent', 'svc:analyzing']));
  expect(await created()).toEqual([['bug', 'svc:urgent']]);
});
