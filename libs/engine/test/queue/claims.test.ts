import { describe, expect, test } from '@jest/globals';
import {
  actOnIssue,
  fail,
  heartbeat,
  reclaimExpired,
  registerWorker,
  releaseDue,
  report,
  returnClaim,
  weeklyReliability,
} from '@pipeline/engine';
import { sql } from 'kysely';
import { applyHostIssue, claimNext, finish, goodOutcome, hostIssue, paid, refOf, take, WORKER } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage();
const { database } = bench;
const ANALYZED = { outcome: 'analyzed' as const, result: {} };

const costRows = () =>
  database.db.selectFrom('cost_events').select('amount_usd').where('tenant_id', '=', bench.tenantId).execute();

describe('a claim', () => {
  test('one of sixteen concurrent workers wins the claim of one task', async () => {
    const claims = await Promise.all(Array.from({ length: 16 }, () => claimNext(bench)));
    expect(claims.filter((task) => task !== null)).toHaveLength(1);
  });

  test('a claim with an expired lease goes to the next worker as attempt + 1, and the late report is refused', async () => {
    const first = await take(bench);
    bench.pass(61);
    await reclaimExpired(bench.engine);
    const second = await take(bench);
    expect(second).toMatchObject({ id: first.id, attempt: 1 });
    await expect(finish(bench, first, ANALYZED)).rejects.toMatchObject({ code: 'CLAIM_LOST' });
    expect(await finish(bench, second, ANALYZED)).toMatchObject({ state: 'planning' });
  });

  test('an expired claim is refused even before it is reclaimed, and a heartbeat does not extend it', async () => {
    const task = await take(bench);
    bench.pass(61);
    const tasks = [{ taskId: task.id, claimToken: task.claimToken }];
    const beat = { tenantId: bench.tenantId, workerId: bench.workerId, status: 'busy' as const, tasks };
    expect(await heartbeat(bench.engine, beat)).toMatchObject({ cancelTaskIds: [task.id] });
    await expect(finish(bench, task, ANALYZED)).rejects.toMatchObject({ code: 'CLAIM_LOST' });
    expect((await bench.issue()).state).toBe('analyzing');
  });

  test('reclaims a claim that was not started after two minutes although its lease was extended', async () => {
    const task = await claimNext(bench);
    if (!task) throw new Error('nothing');
    for (let i = 0; i < 3; i += 1) {
      bench.pass(45);
      const tasks = [{ taskId: task.id, claimToken: task.claimToken }];
      await heartbeat(bench.engine, { tenantId: bench.tenantId, workerId: bench.workerId, status: 'busy', tasks });
    }
    await reclaimExpired(bench.engine);
    expect(await take(bench)).toMatchObject({ id: task.id, attempt: 1 });
  });

  test('lost on the last attempt blocks the issue', async () => {
    for (let i = 0; i < 3; i += 1) {
      await take(bench);
      bench.pass(61);
      await reclaimExpired(bench.engine);
    }
    expect(await bench.issue()).toMatchObject({ state: 'failure-blocked', block_classification: 'transient' });
  });

  test('returns the claim of a worker that registers again under its name immediately', async () => {
    await take(bench);
    expect(await registerWorker(bench.engine, bench.tenantId, { ...WORKER, name: 'w1' })).toBe(bench.workerId);
    expect((await take(bench)).attempt).toBe(1);
  });
});

describe('a report', () => {
  test('a repeated report gets the same response and records no cost twice', async () => {
    const task = await take(bench);
    const body = { ...ANALYZED, artefacts: [], findings: [], invocations: [paid(0.25)] };
    const first = await report(bench.engine, refOf(bench, task), body);
    expect(await report(bench.engine, refOf(bench, task), body)).toEqual(first);
    expect(await costRows()).toEqual([{ amount_usd: 0.25 }]);
    expect((await bench.issue()).cost_usd).toBe(0.25);
  });

  test('refuses a report with another body after the end', async () => {
    const task = await take(bench);
    await finish(bench, task, ANALYZED);
    const other = { outcome: 'not-planned' as const, result: { reason: 'no' } };
    await expect(finish(bench, task, other)).rejects.toMatchObject({ code: 'CLAIM_LOST' });
  });

  test('refuses a report of an outcome that its task cannot have, without any change', async () => {
    const task = await take(bench);
    await expect(finish(bench, task, { outcome: 'approved', result: { body: '' } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('analyzed, split'),
    });
    expect(await finish(bench, task, ANALYZED)).toMatchObject({ state: 'planning' });
  });

  test.each(['main', 'svc/issue-2', 'topic', 'SVC/issue-1'])(
    'of work on %s, which was not issued with the claim, is refused and may be sent again',
    async (branch) => {
      await finish(bench, await take(bench), ANALYZED);
      await finish(bench, await take(bench), goodOutcome('plan', 1));
      const task = await take(bench);
      const work = { headSha: 'abc1234', title: 'Done', body: '', changedFiles: ['README.md'] };
      const submitted = (name: string) => ({ outcome: 'submitted' as const, result: { ...work, branch: name } });
      await expect(finish(bench, task, submitted(branch))).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: `result.branch: ${branch} is not the branch of this task; push the work to svc/issue-1`,
      });
      expect(await finish(bench, task, submitted('svc/issue-1'))).toMatchObject({ state: 'in-review' });
    },
  );

  test('a late report changes nothing, but its cost is recorded', async () => {
    const task = await take(bench);
    bench.pass(61);
    await reclaimExpired(bench.engine);
    const failure = { errorMessage: 'late', errorClass: 'transient' as const, invocations: [paid(0.5)] };
    await expect(fail(bench.engine, refOf(bench, task), failure)).rejects.toMatchObject({ code: 'CLAIM_LOST' });
    expect(await costRows()).toEqual([{ amount_usd: 0.5 }]);
  });
});

describe('a task that is withdrawn while a worker holds it', () => {
  test('the heartbeat reports a cancel, and a report answers that the task is gone', async () => {
    const task = await take(bench);
    const key = await bench.key();
    expect(await actOnIssue(bench.engine, key, 'cancel', OLGA)).toBe('done');
    const tasks = [{ taskId: task.id, claimToken: task.claimToken }];
    const beat = { tenantId: bench.tenantId, workerId: bench.workerId, status: 'busy' as const, tasks };
    expect(await heartbeat(bench.engine, beat)).toMatchObject({ cancelTaskIds: [task.id] });
    await expect(finish(bench, task, ANALYZED)).rejects.toMatchObject({ code: 'TASK_CANCELLED' });
    expect((await bench.issue()).state).toBe('done');
  });

  test('delays the next task until the worker is notified, or its lease is over', async () => {
    const task = await take(bench);
    const closed = hostIssue(1, { state: 'closed', labels: [] });
    await applyHostIssue(bench, closed, { action: 'closed' });
    await applyHostIssue(bench, hostIssue(1, { labels: [] }), { action: 'reopened' });
    await expect(take(bench)).rejects.toThrow('nothing to claim');
    const tasks = [{ taskId: task.id, claimToken: task.claimToken }];
    const beat = { tenantId: bench.tenantId, workerId: bench.workerId, status: 'busy' as const, tasks };
    await heartbeat(bench.engine, beat);
    expect((await take(bench)).id).not.toBe(task.id);
  });
});

describe('a retried task', () => {
  const retryBudget = async () => {
    const { repos } = await weeklyReliability(bench.engine, {
      repo: `${bench.repo.owner}/${bench.repo.name}`,
      tenant: undefined,
    });
    return repos[0]?.retryBudget;
  };

  test('counts once when its claim is returned unstarted', async () => {
    await take(bench);
    bench.pass(61);
    await reclaimExpired(bench.engine);
    const handedBack = await claimNext(bench);
    if (!handedBack) throw new Error('nothing to claim');
    expect(await returnClaim(bench.engine, refOf(bench, handedBack))).toBe(true);
    expect(await take(bench)).toMatchObject({ id: handedBack.id, attempt: 1 });
    expect(await retryBudget()).toEqual({ tasksRetried: 1, totalRetriesConsumed: 1 });
    bench.pass(61);
    await reclaimExpired(bench.engine);
    await take(bench);
    expect(await retryBudget()).toEqual({ tasksRetried: 2, totalRetriesConsumed: 3 });
  });

  test('counts as soon as it waits for a worker', async () => {
    await take(bench);
    bench.pass(61);
    await reclaimExpired(bench.engine);
    expect(await retryBudget()).toEqual({ tasksRetried: 1, totalRetriesConsumed: 1 });
    const task = await take(bench);
    expect(await retryBudget()).toEqual({ tasksRetried: 1, totalRetriesConsumed: 1 });
    const failure = { errorMessage: 'timed out', errorClass: 'transient' as const, invocations: [] };
    await fail(bench.engine, refOf(bench, task), failure);
    expect(await retryBudget()).toEqual({ tasksRetried: 2, totalRetriesConsumed: 3 });
  });
});

describe('a paused issue', () => {
  test('gets the task of its state when it is resumed and has none', async () => {
    const key = await bench.key();
    await actOnIssue(bench.engine, key, 'pause', OLGA);
    await sql`delete from tasks where tenant_id = ${bench.tenantId}`.execute(database.db);
    expect(await actOnIssue(bench.engine, key, 'resume', OLGA)).toBe('analyzing');
    expect(await bench.tasks()).toMatchObject([{ task_type: 'analyze', status: 'pending', attempt: 0, held: null }]);
    expect((await take(bench)).taskType).toBe('analyze');
  });

  test('gets no second task when it is resumed while a worker holds its task', async () => {
    const task = await take(bench);
    const key = await bench.key();
    await actOnIssue(bench.engine, key, 'pause', OLGA);
    await actOnIssue(bench.engine, key, 'resume', OLGA);
    expect(await bench.tasks()).toMatchObject([{ id: task.id, status: 'claimed' }]);
  });

  test('no worker claims its task; the outcome of a running task is applied, its next task waits for the resume', async () => {
    const task = await take(bench);
    const key = await bench.key();
    await actOnIssue(bench.engine, key, 'pause', OLGA);
    expect(await finish(bench, task, ANALYZED)).toMatchObject({ state: 'planning' });
    await expect(take(bench)).rejects.toThrow('nothing to claim');
    bench.pass(3_600);
    await releaseDue(bench.engine);
    await expect(take(bench)).rejects.toThrow('nothing to claim');
    expect(await actOnIssue(bench.engine, key, 'resume', OLGA)).toBe('planning');
    expect((await take(bench)).taskType).toBe('plan');
  });

  test('keeps the backoff of a failed task when it is paused and resumed', async () => {
    const task = await take(bench);
    const failure = { errorMessage: 'network down: ECONNRESET', errorClass: 'transient' as const, invocations: [] };
    expect(await fail(bench.engine, refOf(bench, task), failure)).toMatchObject({ requeued: true });
    const due = (await bench.tasks())[0]?.run_after;
    const key = await bench.key();
    await actOnIssue(bench.engine, key, 'pause', OLGA);
    await actOnIssue(bench.engine, key, 'resume', OLGA);
    expect(await bench.tasks()).toEqual([expect.objectContaining({ held: 'backoff', run_after: due })]);
    await expect(take(bench)).rejects.toThrow('nothing to claim');
    bench.pass(3_600);
    await releaseDue(bench.engine);
    expect(await take(bench)).toMatchObject({ taskType: 'analyze', attempt: 1 });
  });
});
