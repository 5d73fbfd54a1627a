import { beforeEach, describe, expect, test } from '@jest/globals';
import type { HostPullRequest, ProjectionType } from '@pipeline/domain';
import {
  act,
  autoUnblock,
  beginSending,
  claim,
  fail,
  findIssueKey,
  pollRepo,
  releaseWaiting,
  retryDeadLetter,
  sendable,
  settle,
  steerProjection,
  takeHostEvent,
  transition,
} from '@pipeline/engine';
import { findIssue } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import {
  ALL_TASKS,
  type Bench,
  drain,
  finish,
  goodOutcome,
  hostIssue,
  listsAgreeAfterEach,
  makeBench,
  refOf,
  say,
  step,
  take,
  tell,
  workUntil,
} from './harness.ts';

const database = testDatabase();
listsAgreeAfterEach(database);
const OLGA = { type: 'operator' as const, id: 'olga', agent: null };
let bench: Bench;
let round = 0;

beforeEach(async () => {
  round += 1;
  database.clock.now = new Date('2026-03-01T00:00:00Z');
  bench = await makeBench(database.store, { slug: `found-${round}/shop` });
  await tell(bench, hostIssue(1));
});

const issue = async (number = 1) => {
  const row = await findIssue(database.db, bench.tenantId, bench.repo.id, number);
  if (!row) throw new Error('no issue');
  return row;
};
const key = () => findIssueKey(bench.engine, { owner: `found-${round}`, repo: 'shop', number: 1 });
const letters = () =>
  database.db
    .selectFrom('dead_letters')
    .select(['id', 'error', 'target_state'])
    .where('tenant_id', '=', bench.tenantId)
    .where('resolved_at', 'is', null)
    .execute();
const entry = async (type: ProjectionType) => {
  const rows = await database.db
    .selectFrom('projections')
    .selectAll()
    .where('tenant_id', '=', bench.tenantId)
    .execute();
  const found = rows.findLast(({ action }) => action.type === type);
  if (!found) throw new Error(`no ${type}`);
  return found;
};
const pass = (seconds: number) => {
  database.clock.now = new Date((database.clock.now?.getTime() ?? 0) + seconds * 1_000);
};
const work = async () => {
  const task = await take(bench);
  await finish(bench, task, goodOutcome(task.taskType, task.issueNumber ?? 0));
};
const refuse = (message: string) =>
  bench.host.nextResults.push({ status: 'refused', httpStatus: 422, message, kind: 'other' });

/** Sends one entry of the outbox and no other. */
async function send(type: ProjectionType): Promise<void> {
  const sending = await beginSending(bench.engine, bench.tenantId, (await entry(type)).id);
  if (!sending) throw new Error(`${type} is not pending`);
  const { projection, repo, mayHaveHappened } = sending;
  await settle(bench.engine, sending, await bench.host.execute(repo, 1, projection.action, { mayHaveHappened }));
}

const pull = (over: Partial<HostPullRequest>): HostPullRequest => ({
  number: 5_000,
  title: 'By hand',
  body: 'Fixes #1',
  url: 'http://host/5000',
  state: 'open',
  merged: false,
  mergedAt: null,
  mergeCommitSha: null,
  headRef: 'by-hand',
  headSha: 'fff0000',
  baseRef: 'main',
  author: 'alice',
  draft: false,
  createdAt: '2026-01-01T00:00:00Z',
  ...over,
});
const tellPull = (action: 'opened' | 'closed', pullRequest: HostPullRequest) =>
  takeHostEvent(bench, { kind: 'pull-request', action, repo: bench.repo, pullRequest, sender: 'alice' });

describe('an issue with several pull requests', () => {
  test('is reviewed and merged by its own, whatever people open beside it', async () => {
    await workUntil(bench, 'ready-for-dev');
    await tellPull('opened', pull({}));
    await step(bench);
    expect((await take(bench)).payload.pr).toMatchObject({ headRef: 'svc/issue-1', headSha: 'abc1234' });
    const byHand = await database.db
      .selectFrom('pull_requests')
      .select('head_sha')
      .where('tenant_id', '=', bench.tenantId)
      .where('number', '=', 5_000)
      .executeTakeFirst();
    expect(byHand?.head_sha).toBe('fff0000');
  });

  test('goes on when another than its own is closed', async () => {
    await workUntil(bench, 'in-review');
    await tellPull('opened', pull({}));
    await tellPull('closed', pull({ state: 'closed' }));
    expect((await issue()).state).toBe('in-review');
  });
});

describe('no issue is forgotten', () => {
  test('a merge without an open pull request is a dead letter that names the way out', async () => {
    await workUntil(bench, 'merge-pending');
    await database.db
      .updateTable('pull_requests')
      .set({ state: 'closed' })
      .where('tenant_id', '=', bench.tenantId)
      .execute();
    await work();
    expect(await letters()).toMatchObject([
      { error: expect.stringContaining('no open pull request'), target_state: 'done' },
    ]);
  });

  test('a discarded pull request leaves a dead letter whose retry opens it after all', async () => {
    await workUntil(bench, 'ready-for-dev');
    await work();
    await steerProjection(bench.engine, (await entry('createPR')).id, 'discard', OLGA);
    const [letter] = await letters();
    expect(letter).toMatchObject({ error: 'createPR: discarded by an operator', target_state: 'in-review' });
    await retryDeadLetter(bench.engine, letter?.id ?? '', OLGA);
    await drain(bench);
    expect((await take(bench)).taskType).toBe('review');
  });

  test('a subtask that the host refuses, and a review that holds the merge behind it, leave dead letters', async () => {
    await workUntil(bench, 'in-review');
    await work();
    refuse('line 1 is not part of the diff');
    await send('submitReview');
    expect(await letters()).toMatchObject([{ error: 'submitReview: line 1 is not part of the diff' }]);

    await tell(bench, hostIssue(2));
    const task = await take(bench, ['analyze']);
    const subtasks = [{ title: 'part', body: '', labels: [] }];
    await finish(bench, task, { outcome: 'split', result: { subtasks } });
    refuse('issues are disabled');
    await send('createIssue');
    expect(await letters()).toMatchObject([{}, { error: 'createIssue: issues are disabled' }]);
  });

  test('an epic goes on when its subtask was done before their edge was made', async () => {
    await tell(bench, hostIssue(2));
    const second = await findIssueKey(bench.engine, { owner: `found-${round}`, repo: 'shop', number: 2 });
    await act(bench.engine, second, 'cancel', OLGA);
    const subtasks = [{ title: 'part', body: '', labels: [] }];
    await finish(bench, await take(bench), { outcome: 'split', result: { subtasks } });
    const sending = await beginSending(bench.engine, bench.tenantId, (await entry('createIssue')).id);
    if (!sending) throw new Error('not pending');
    await settle(bench.engine, sending, { status: 'ok', repeated: true, created: { number: 2 } });
    await releaseWaiting(bench.engine);
    expect((await issue()).state).toBe('human-review-ready');
  });

  test('a subtask that depends on its epic is asked about, for they would wait for each other', async () => {
    const subtasks = [{ title: 'part', body: '', labels: [] }];
    await finish(bench, await take(bench), { outcome: 'split', result: { subtasks } });
    await drain(bench);
    const answer = await finish(bench, await take(bench), { outcome: 'depends', result: { on: ['#1'] } });
    expect(answer.state).toBe('needs-clarification');
  });

  test('a dependency that the pipeline has no record of ends with its close on the host', async () => {
    await finish(bench, await take(bench), { outcome: 'depends', result: { on: ['#77'] } });
    await tell(bench, hostIssue(77, { labels: [], state: 'closed' }), { action: 'closed' });
    await releaseWaiting(bench.engine);
    expect((await issue()).state).toBe('analyzing');
  });

  test('a workflow without the way out says so once, not at every tick', async () => {
    await database.db
      .updateTable('workflow_snapshots')
      .set({ body: JSON.stringify(await withoutTrigger('dependencies-done')) as never })
      .where('tenant_id', '=', bench.tenantId)
      .execute();
    await transition(bench.engine, await key(), 'dependency-blocked', OLGA);
    for (let tick = 0; tick < 3; tick += 1) await releaseWaiting(bench.engine);
    expect(await letters()).toHaveLength(1);
  });
});

async function withoutTrigger(trigger: string) {
  const { body } = await database.db
    .selectFrom('workflow_snapshots')
    .select('body')
    .where('tenant_id', '=', bench.tenantId)
    .executeTakeFirstOrThrow();
  const workflow = body as unknown as { edges: { trigger: string }[] };
  return { ...workflow, edges: workflow.edges.filter((edge) => edge.trigger !== trigger) };
}

describe('what is not wanted any more does not happen after all', () => {
  test('the merge of an issue that was cancelled while it waited in the outbox', async () => {
    await workUntil(bench, 'merge-pending');
    await work();
    await act(bench.engine, await key(), 'cancel', OLGA);
    await drain(bench);
    expect(bench.host.executed.map(({ type }) => type)).not.toContain('mergePR');
  });

  test('the parts of an epic that was cancelled before they were made', async () => {
    const subtasks = [{ title: 'part', body: '', labels: [] }];
    await finish(bench, await take(bench), { outcome: 'split', result: { subtasks } });
    await act(bench.engine, await key(), 'cancel', OLGA);
    await drain(bench);
    expect(bench.host.executed.map(({ type }) => type)).not.toContain('createIssue');
  });

  test('a failed merge of work that was sent back holds no later one', async () => {
    await workUntil(bench, 'merge-pending');
    await work();
    refuse('forbidden');
    await send('mergePR');
    await transition(bench.engine, await key(), 'changes-requested', OLGA);
    await workUntil(bench, 'done').catch(() => undefined);
    expect((await issue()).state).toBe('done');
  });

  test('the automatic end of a block that turned out to be permanent', async () => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const task = await claim(bench.engine, { ...bench, taskTypes: ALL_TASKS, repoIds: null });
      if (!task) throw new Error('nothing to claim');
      await fail(bench.engine, refOf(bench, task), {
        errorMessage: 'socket hang up',
        errorClass: 'transient',
        invocations: [],
      });
      await act(bench.engine, await key(), 'retry', OLGA);
      if (attempt < 2)
        await database.db
          .updateTable('tasks')
          .set({ attempt: attempt + 1 })
          .where('tenant_id', '=', bench.tenantId)
          .execute();
    }
    expect(await issue()).toMatchObject({ state: 'failure-blocked', auto_unblock_at: expect.anything() });
    const task = await take(bench);
    await fail(bench.engine, refOf(bench, task), {
      errorMessage: 'permission denied',
      errorClass: 'permanent',
      invocations: [],
    });
    pass(3_600);
    expect(await autoUnblock(bench.engine)).toBe(0);
    expect(await issue()).toMatchObject({ state: 'failure-blocked', auto_unblock_at: null });
  });
});

test('a retry does not put a second agent on the branch of one that was told to stop', async () => {
  await take(bench);
  await transition(bench.engine, await key(), 'planning', OLGA);
  await act(bench.engine, await key(), 'retry', OLGA);
  await expect(take(bench)).rejects.toThrow('nothing to claim');
});

test('a comment that is rewritten while its attempt begins goes out as it is then', async () => {
  const [head] = (await sendable(bench.engine, 'sandbox', 100)).slice(-1);
  const before = await entry('updateComment');
  await work();
  const sending = await beginSending(bench.engine, bench.tenantId, before.id);
  expect(head).toBeDefined();
  expect(sending?.projection.action).toEqual((await entry('updateComment')).action);
});

describe('what people do on the host', () => {
  test('while our own writes are under way is found by the next poll', async () => {
    const closed = hostIssue(1, { state: 'closed', updatedAt: '2026-03-01T00:00:10Z' });
    let seen = [hostIssue(1)];
    bench.host.listIssues = async () => ({ issues: seen, changedPullRequests: [], etag: null });
    const poll = () => pollRepo(bench, () => database.clock.now ?? new Date());
    await poll();
    seen = [closed];
    pass(20);
    await poll();
    expect((await issue()).state).toBe('analyzing');
    await drain(bench);
    pass(20);
    await poll();
    expect((await issue()).state).toBe('done');
  });

  test('svc:enqueue on a finished, closed issue starts it anew and opens it again', async () => {
    await act(bench.engine, await key(), 'cancel', OLGA);
    await drain(bench);
    await tell(bench, hostIssue(1, { state: 'closed' }), { action: 'labeled', label: 'svc:enqueue' });
    await drain(bench);
    expect((await issue()).state).toBe('analyzing');
    expect(bench.host.executed.map(({ type }) => type)).toContain('reopenIssue');
  });

  test('and said before the question was put is no answer to it', async () => {
    await finish(bench, await take(bench), { outcome: 'needs-clarification', result: { question: 'Which one?' } });
    const comment = {
      id: 4_711,
      author: 'alice',
      body: 'Thanks!',
      createdAt: '2026-02-28T00:00:00Z',
      updatedAt: '2026-02-28T00:00:00Z',
    };
    const about = { repo: bench.repo, issueNumber: 1, onPullRequest: false, issueAuthor: 'alice' };
    await takeHostEvent(bench, { kind: 'comment', ...about, comment, sender: 'alice' });
    expect((await issue()).state).toBe('needs-clarification');
    await say(bench, 1, 'The first one.');
    expect((await issue()).state).toBe('analyzing');
  });
});

test('svc:paused on a finished issue goes again', async () => {
  await act(bench.engine, await key(), 'cancel', OLGA);
  await drain(bench);
  const before = bench.host.executed.length;
  await tell(bench, hostIssue(1, { state: 'closed' }), { action: 'labeled', label: 'svc:paused' });
  await drain(bench);
  expect(bench.host.executed.slice(before).map(({ type }) => type)).toEqual(['swapLabels']);
  expect((await issue()).labels).toEqual(['svc:done']);
});
