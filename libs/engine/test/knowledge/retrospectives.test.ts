import { describe, expect, test } from '@jest/globals';
import { actOnIssue, fail, reclaimExpired, releaseDue, report, start, transitionIssue } from '@pipeline/engine';
import {
  applyHostIssue,
  claimNext,
  drain,
  finish,
  goodOutcome,
  hostIssue,
  RETROSPECTIVE,
  refOf,
  say,
  step,
  take,
  workUntil,
} from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage();
const { database } = bench;

const retrospectives = () =>
  database.db.selectFrom('retrospectives').selectAll().where('tenant_id', '=', bench.tenantId).execute();
const events = async (eventType: string) =>
  database.db
    .selectFrom('pipeline_events')
    .select(['event_type', 'payload'])
    .where('tenant_id', '=', bench.tenantId)
    .where('event_type', '=', eventType)
    .execute();

/** Completes the issue by a merge. */
const merged = () => workUntil(bench, 'merge-pending').then(() => step(bench));
const retrospect = () => take(bench, ['retrospect']);
const failWith = async (task: Awaited<ReturnType<typeof take>>, errorClass: 'transient' | 'quota' | 'permanent') =>
  fail(bench.engine, refOf(bench, task), { errorMessage: 'model is away', errorClass, invocations: [] });

describe('an issue that is merged', () => {
  test('gets a retrospect task with its whole summary, and the retrospective is stored', async () => {
    const first = await take(bench);
    await fail(bench.engine, refOf(bench, first), {
      errorMessage: 'socket hang up',
      errorClass: 'transient',
      invocations: [],
    });
    bench.pass(60);
    await releaseDue(bench.engine);
    await merged();
    expect((await bench.issue()).state).toBe('done');
    const task = await retrospect();
    expect(task).toMatchObject({
      taskType: 'retrospect',
      issueNumber: 1,
      priority: 80,
      attempt: 0,
      payload: {
        plan: { text: 'do it', plannedFiles: ['README.md'] },
        state: 'done',
        history: {
          end: 'merged',
          changedFiles: ['README.md'],
          pullRequests: [{ merged: true, mergeSha: 'cafe123' }],
          reviewCycles: 0,
          failures: [{ taskType: 'analyze', attempt: 0, errorClass: 'transient', message: 'socket hang up' }],
          costs: { totalUsd: 0 },
        },
      },
    });
    const { timeline, endedAt, costs } = task.payload.history ?? { timeline: [], endedAt: null, costs: null };
    expect(timeline.map((move) => move.to)).toEqual([
      'analyzing',
      'planning',
      'ready-for-dev',
      'in-review',
      'merge-pending',
      'done',
    ]);
    expect(endedAt).toBe('2026-03-01T00:01:00.000Z');
    expect(costs?.byAgent).toContainEqual({ agent: 'analyzer', usd: 0, runs: 2 });

    const lessons = { retry: 'helps' };
    const result = { ...RETROSPECTIVE, outcomeClassification: 'partial' as const, lessons };
    expect(await finish(bench, task, { outcome: 'retrospective', result })).toMatchObject({ state: 'done' });
    expect(await retrospectives()).toMatchObject([
      {
        issue_id: (await bench.issue()).id,
        repo_id: bench.repo.id,
        status: 'complete',
        outcome_classification: 'partial',
        summary: 'As planned.',
        planned_files: { files: ['README.md'] },
        actual_files: { files: ['README.md'] },
        failures: null,
        lessons,
      },
    ]);
    expect(await bench.tasks()).toEqual([]);
    expect(await bench.openDeadLetters()).toEqual([]);
  });

  test("stores the agent's files, and keeps its status", async () => {
    await merged();
    const task = await retrospect();
    const files = { plannedFiles: { files: ['a'] }, actualFiles: { files: ['b'], note: 'x' } };
    await finish(bench, task, { outcome: 'retrospective', result: { ...RETROSPECTIVE, ...files } });
    expect(await retrospectives()).toMatchObject([
      { planned_files: files.plannedFiles, actual_files: files.actualFiles },
    ]);
    expect((await bench.issue()).current_status).toBeNull();
  });

  test('creates one retrospective when the report is repeated', async () => {
    await merged();
    const task = await retrospect();
    const [first, second] = [
      await finish(bench, task, goodOutcome('retrospect', 1)),
      await finish(bench, task, goodOutcome('retrospect', 1)),
    ];
    expect(second).toEqual(first);
    expect(await retrospectives()).toHaveLength(1);
  });
});

describe('an issue that ends otherwise', () => {
  test('gets a retrospective when there was a plan', async () => {
    await workUntil(bench, 'ready-for-dev');
    await actOnIssue(bench.engine, await bench.key(), 'cancel', OLGA);
    expect((await retrospect()).payload.history).toMatchObject({ end: 'ended', changedFiles: [], pullRequests: [] });
  });

  test('creates no retrospective when nothing was planned or submitted', async () => {
    await finish(bench, await take(bench), { outcome: 'not-planned', result: { reason: 'no' } });
    expect((await bench.issue()).state).toBe('done');
    expect(await bench.tasks()).toEqual([]);
    await applyHostIssue(bench, hostIssue(2));
    await say(bench, 2, '/svc:cancel');
    expect(await bench.tasks()).toEqual([]);
  });
});

describe('a retrospect that fails', () => {
  test('retries the retrospect, and drops it at last: the issue stays done', async () => {
    await merged();
    for (const attempt of [0, 1]) {
      const task = await retrospect();
      expect(task.attempt).toBe(attempt);
      expect(await failWith(task, 'transient')).toMatchObject({ requeued: true });
      await expect(retrospect()).rejects.toThrow('nothing to claim');
      bench.pass(700);
      await releaseDue(bench.engine);
    }
    expect(await failWith(await retrospect(), 'transient')).toMatchObject({ requeued: false });
    expect(await bench.issue()).toMatchObject({ state: 'done', is_blocked: false, last_error: null });
    expect(await bench.tasks()).toEqual([]);
    expect(await events('task_given_up')).toMatchObject([
      { payload: { taskType: 'retrospect', attempt: 2, error: 'model is away' } },
    ]);
    expect(await events('task_failed')).toHaveLength(3);
  });

  test('waits for a quota without using an attempt', async () => {
    await merged();
    expect(await failWith(await retrospect(), 'quota')).toMatchObject({ requeued: true });
    bench.pass(15 * 60 + 1);
    await releaseDue(bench.engine);
    expect((await retrospect()).attempt).toBe(0);
  });

  test('does not count for the tasks of the issue', async () => {
    await merged();
    for (let i = 0; i < 2; i += 1) {
      await failWith(await retrospect(), 'transient');
      bench.pass(700);
      await releaseDue(bench.engine);
    }
    await applyHostIssue(bench, hostIssue(1), { action: 'reopened' });
    expect((await bench.issue()).state).toBe('analyzing');
    // The third time the same error would be a permanent one.
    expect(await failWith(await take(bench), 'transient')).toMatchObject({ requeued: true });
  });

  test('goes to another worker when its own falls silent, and is dropped after the last one', async () => {
    await merged();
    for (const attempt of [0, 1, 2]) {
      expect((await retrospect()).attempt).toBe(attempt);
      bench.pass(700);
      expect(await reclaimExpired(bench.engine)).toBeGreaterThan(0);
    }
    expect(await bench.tasks()).toEqual([]);
    expect(await events('task_given_up')).toHaveLength(1);
    expect(await bench.issue()).toMatchObject({ state: 'done', is_blocked: false });
  });
});

describe('an issue that is reopened', () => {
  test('continues while its retrospect waits or runs, which does not change it', async () => {
    await merged();
    const running = await retrospect();
    await applyHostIssue(bench, hostIssue(1), { action: 'reopened' });
    expect((await bench.issue()).state).toBe('analyzing');
    expect(await step(bench)).toBe('planning');
    expect(await finish(bench, running, goodOutcome('retrospect', 1))).toMatchObject({ state: 'planning' });
    expect((await bench.issue()).state).toBe('planning');
    expect(await retrospectives()).toHaveLength(1);
    expect((await bench.tasks()).map((task) => task.task_type)).toEqual(['plan']);
  });

  test('a reopened issue has a second retrospective when it is done again', async () => {
    await merged();
    await finish(bench, await retrospect(), goodOutcome('retrospect', 1));
    await applyHostIssue(bench, hostIssue(1), { action: 'reopened' });
    await merged();
    await finish(bench, await retrospect(), goodOutcome('retrospect', 1));
    expect(await retrospectives()).toHaveLength(2);
  });

  test('a reopened issue has one waiting retrospect, with the whole summary, when it is done again meanwhile', async () => {
    await merged();
    await applyHostIssue(bench, hostIssue(1), { action: 'reopened' });
    await merged();
    expect((await bench.issue()).state).toBe('done');
    const task = await retrospect();
    expect(task.payload.history?.timeline.filter((move) => move.to === 'done')).toHaveLength(2);
    await finish(bench, task, goodOutcome('retrospect', 1));
    await expect(retrospect()).rejects.toThrow('nothing to claim');
  });

  test('replaces the running retrospect when it is done again', async () => {
    await merged();
    const running = await retrospect();
    await applyHostIssue(bench, hostIssue(1), { action: 'reopened' });
    await merged();
    await expect(finish(bench, running, goodOutcome('retrospect', 1))).rejects.toMatchObject({
      code: 'TASK_CANCELLED',
    });
    await finish(bench, await retrospect(), goodOutcome('retrospect', 1));
    expect(await retrospectives()).toHaveLength(1);
  });

  test('does not wait for a withdrawn retrospect', async () => {
    await merged();
    await retrospect();
    await applyHostIssue(bench, hostIssue(1), { action: 'reopened' });
    await merged();
    await applyHostIssue(bench, hostIssue(1), { action: 'reopened' });
    expect((await take(bench)).taskType).toBe('analyze');
  });

  test('holds its retrospect while it is paused, and no longer', async () => {
    await merged();
    await applyHostIssue(bench, hostIssue(1), { action: 'reopened' });
    await actOnIssue(bench.engine, await bench.key(), 'pause', OLGA);
    await expect(retrospect()).rejects.toThrow('nothing to claim');
    await actOnIssue(bench.engine, await bench.key(), 'resume', OLGA);
    expect((await retrospect()).taskType).toBe('retrospect');
  });

  test('releases a paused retrospect when it is cancelled', async () => {
    await merged();
    await applyHostIssue(bench, hostIssue(1), { action: 'reopened' });
    await actOnIssue(bench.engine, await bench.key(), 'pause', OLGA);
    await actOnIssue(bench.engine, await bench.key(), 'cancel', OLGA);
    expect((await retrospect()).taskType).toBe('retrospect');
  });

  test('keeps its retrospect through a forced transition', async () => {
    await merged();
    await transitionIssue(bench.engine, await bench.key(), 'new', OLGA);
    expect((await bench.tasks()).map((task) => task.task_type).sort()).toEqual(['analyze', 'retrospect']);
  });
});

test('a retrospect is claimed once, and a reopening concurrent with its report loses neither', async () => {
  await merged();
  await drain(bench);
  const { engine } = bench;
  const claims = await Promise.all(Array.from({ length: 6 }, () => claimNext(bench, ['retrospect'])));
  const [task, another] = claims.filter((claimed) => claimed !== null);
  if (!task) throw new Error('no worker got it');
  expect(another).toBeUndefined();
  await start(engine, refOf(bench, task));
  const body = { ...goodOutcome('retrospect', 1), artefacts: [], findings: [], invocations: [] };
  await Promise.all([
    report(engine, refOf(bench, task), body),
    report(engine, refOf(bench, task), body),
    applyHostIssue(bench, hostIssue(1), { action: 'reopened' }),
  ]);
  expect(await retrospectives()).toHaveLength(1);
  expect((await bench.issue()).state).toBe('analyzing');
});
