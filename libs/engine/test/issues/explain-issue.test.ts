import { expect, test } from '@jest/globals';
import type { Outcome, WaitKind } from '@pipeline/domain';
import { actOnIssue, explainIssue, fail } from '@pipeline/engine';
import { type OrgScope, recordFindings } from '@pipeline/store';
import {
  applyHostIssue,
  drain,
  finish,
  goodOutcome,
  hostIssue,
  makeBench,
  refOf,
  step,
  take,
  workUntil,
} from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage({ at: null });
const { database } = bench;

const why = (number = 1) => {
  const scope = { tenantId: bench.tenantId, userId: 1, role: 'owner', repoIds: null } as unknown as OrgScope;
  return explainIssue(database.store, scope, { slug: `${bench.repo.owner}/shop`, number });
};
const kinds = async (number = 1) => (await why(number)).waitingOn.map(({ kind }) => kind);
const failNext = async (errorMessage: string, errorClass: 'transient' | 'permanent' | 'quota') =>
  fail(bench.engine, refOf(bench, await take(bench)), { errorMessage, errorClass, invocations: [] });
const end = async (outcome: Outcome) => finish(bench, await take(bench), outcome);
const holdTask = (held: 'budget' | 'handover') =>
  database.db.updateTable('tasks').set({ held }).where('tenant_id', '=', bench.tenantId).execute();

/** Actions on the issue, and the resulting waits. */
const CASES: [string, WaitKind[], () => Promise<unknown>][] = [
  ['a task that is not claimed', ['worker'], async () => undefined],
  ['a task that a worker has', ['worker'], () => take(bench)],
  ['a task whose former worker holds on', ['worker'], () => holdTask('handover')],
  ['a task without budget', ['budget'], () => holdTask('budget')],
  ['an attempt that is repeated', ['retry'], () => failNext('socket hang up', 'transient')],
  ['a quota', ['quota'], () => failNext('429 rate limit', 'quota')],
  ['a failure for good', ['human'], () => failNext('permission denied', 'permanent')],
  [
    'a transient failure too often',
    ['cooldown'],
    async () => {
      for (let attempt = 0; attempt < 3; attempt += 1) {
        await database.db.updateTable('tasks').set({ held: null }).where('tenant_id', '=', bench.tenantId).execute();
        await failNext(`connection to host ${'abc'[attempt]}${'xyz'[attempt]} timed out`, 'transient');
      }
    },
  ],
  ['a question', ['human'], () => end({ outcome: 'needs-clarification', result: { question: 'Which file?' } })],
  ['a pause', ['human'], async () => actOnIssue(bench.engine, await bench.key(), 'pause', OLGA)],
  [
    'another issue',
    ['dependency'],
    async () => {
      await applyHostIssue(bench, hostIssue(2));
      await end({ outcome: 'depends', result: { on: ['#2'] } });
    },
  ],
  [
    'a subtask',
    ['subtask'],
    async () => {
      await end({ outcome: 'split', result: { subtasks: [{ title: 'One', body: '', labels: [] }] } });
      await drain(bench);
    },
  ],
  [
    'a subtask that is not made yet',
    ['projection'],
    () => end({ outcome: 'split', result: { subtasks: [{ title: 'One', body: '', labels: [] }] } }),
  ],
  [
    'a pull request that is not open yet',
    ['projection'],
    async () => {
      await workUntil(bench, 'ready-for-dev');
      await end(goodOutcome('develop', 1));
    },
  ],
  [
    'a pull request that the host refuses',
    ['dead-letter', 'projection'],
    async () => {
      await workUntil(bench, 'ready-for-dev');
      await end(goodOutcome('develop', 1));
      const { execute } = bench.host;
      bench.host.execute = async (repo, number, action, more) =>
        action.type === 'createPR'
          ? { status: 'refused', httpStatus: 422, message: 'no commits', kind: 'other' }
          : execute(repo, number, action, more);
      await drain(bench);
    },
  ],
  [
    'the merge',
    ['merge'],
    async () => {
      await workUntil(bench, 'merge-pending');
      await end(goodOutcome('merge', 1));
    },
  ],
  [
    'checks',
    ['ci', 'worker'],
    async () => {
      await workUntil(bench, 'merge-pending');
      await end({ outcome: 'not-ready', result: { reason: 'checks are red' } } as Outcome);
    },
  ],
  [
    'a finding that blocks',
    ['worker', 'human'],
    async () => {
      const place = {
        runId: 1,
        repoId: bench.repo.id,
        issueId: (await bench.issue()).id,
        prId: null,
        prNumber: null,
        agent: 'reviewer',
      };
      const text = { findingType: 'risk', category: 'security', severity: 'high', title: 'T', summary: 'S' } as const;
      const finding = {
        ...text,
        confidence: null,
        recommendation: null,
        evidence: [],
        metadata: {},
        blocksProgress: true,
      };
      await recordFindings(database.db as never, bench.tenantId, place, [finding]);
    },
  ],
];

test.each(CASES)('an issue waits for %s', async (_what, expected, arrange) => {
  await arrange();
  expect(await kinds()).toEqual(expected);
});

test('an issue that is done waits for nothing, and its transitions are listed, newest first', async () => {
  await workUntil(bench, 'merge-pending');
  await step(bench);
  const explained = await why();
  expect(explained).toMatchObject({ state: 'done', waitingOn: [], explanation: `${bench.repo.owner}/shop#1 is done.` });
  expect(explained.recentTransitions.map(({ to }) => to)).toEqual([
    'done',
    'merge-pending',
    'in-review',
    'ready-for-dev',
    'planning',
    'analyzing',
  ]);
});

test('dependencies in other repos are named in full', async () => {
  const { owner } = bench.repo;
  const other = await makeBench(database.store, { slug: `${owner}/lib`, tenant: owner });
  await applyHostIssue(other, hostIssue(4));
  const task = await take(bench);
  expect(task.repo).toBe(`${owner}/shop`);
  await finish(bench, task, { outcome: 'depends', result: { on: [`${owner}/lib#4`] } });
  expect((await why()).waitingOn).toMatchObject([{ kind: 'dependency', ref: `${owner}/lib#4` }]);
});
