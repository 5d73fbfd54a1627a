import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Comparison, comparedAgentOf } from '@pipeline/domain';
import {
  actOnIssue,
  claim,
  drainWorker,
  fail,
  heartbeat,
  reclaimExpired,
  registerWorker,
  releaseDue,
  releaseStranded,
} from '@pipeline/engine';
import { ALL_TASKS, claimNext, finish, goodOutcome, refOf, WORKER } from '../harness.ts';
import { updateRepo } from '../repo-columns.ts';
import { OLGA, Stage } from '../stage.ts';

const ISSUES = 6;
const COMPARE: Comparison = { analyze: { claude: 1, codex: 1 } };
const FAILURE = { errorMessage: 'socket hang up', errorClass: 'transient' as const, invocations: [] };

const FINAL = { errorMessage: 'protected path touched', errorClass: 'permanent' as const, invocations: [] };

describe('a compared task', () => {
  const bench = new Stage();
  let agent: string;
  let other: string;

  /** Enqueues the analysis again, now that its repo compares agents. */
  const compareFromNow = async (compare: Comparison | null) => {
    await updateRepo(bench, { compare });
    const task = await claimNext(bench);
    if (task) await fail(bench.engine, refOf(bench, task), FINAL);
    await actOnIssue(bench.engine, await bench.key(), 'retry', OLGA);
  };

  const claimBy = async (agents: string[]) =>
    claim(bench.engine, {
      tenantId: bench.tenantId,
      workerId: bench.workerId,
      taskTypes: ALL_TASKS,
      repoIds: null,
      agents,
    });

  const register = (name: string, over: object = {}) =>
    registerWorker(bench.engine, bench.tenantId, { ...WORKER, name, agents: [agent], ...over });

  beforeEach(async () => {
    agent = comparedAgentOf(COMPARE, { repoId: bench.repo.id, issueNumber: 1, taskType: 'analyze' });
    other = agent === 'claude' ? 'codex' : 'claude';
    await compareFromNow(COMPARE);
  });

  test('only a worker with its agent claims the task, which names the agent', async () => {
    expect(await claimBy([])).toBeNull();
    expect(await claimBy([other])).toBeNull();
    expect(await claimBy([other, agent])).toMatchObject({ taskType: 'analyze', agent });
  });

  test('keeps its agent when an attempt fails, although the weights have changed', async () => {
    const task = await claimBy([agent]);
    if (!task) throw new Error('there is nothing to claim');
    await updateRepo(bench, { compare: { analyze: { [other]: 1_000, nobody: 1 } } });
    await fail(bench.engine, refOf(bench, task), FAILURE);
    bench.pass(31);
    await releaseDue(bench.engine);
    expect(await claimBy([other])).toBeNull();
    expect(await claimBy([agent])).toMatchObject({ attempt: 1, agent });
  });

  test('keeps its agent when its worker is lost', async () => {
    await claimBy([agent]);
    bench.pass(300);
    await reclaimExpired(bench.engine);
    expect(await claimBy([other])).toBeNull();
    expect(await claimBy([agent])).toMatchObject({ attempt: 1, agent });
  });

  test('a task for any agent follows when the next type is not compared', async () => {
    const task = await claimBy([agent]);
    if (!task) throw new Error('there is nothing to claim');
    await finish(bench, task, goodOutcome('analyze', 0));
    expect(await claimBy([])).toMatchObject({ taskType: 'plan', agent: null });
  });

  test('any agent gets the task when no worker with its agent has been online for 15 minutes', async () => {
    const released: string[] = [];
    const release = () => releaseStranded(bench.engine, (task) => released.push(task.compared_agent));
    bench.pass(15 * 60);
    expect(await release()).toBe(0);
    bench.pass(1);
    bench.bells.length = 0;
    expect(await release()).toBe(1);
    expect(released).toEqual([agent]);
    expect(bench.bells).toContain('svc_tasks');
    const task = await claimBy([other]);
    expect(task).toMatchObject({ taskType: 'analyze', agent: null });
    if (task) await fail(bench.engine, refOf(bench, task), FAILURE);
    bench.pass(31);
    await releaseDue(bench.engine);
    expect(await claimBy([])).toMatchObject({ attempt: 1, agent: null });
  });

  test('waits for its agent when a worker with it is online', async () => {
    bench.pass(16 * 60);
    const workerId = await register('busy');
    expect(await releaseStranded(bench.engine)).toBe(0);
    await heartbeat(bench.engine, { tenantId: bench.tenantId, workerId, status: 'leaving', tasks: [] });
    expect(await releaseStranded(bench.engine)).toBe(1);
  });

  test('does not wait for a worker that is draining', async () => {
    bench.pass(16 * 60);
    await drainWorker(bench.engine, await register('draining'), true, OLGA);
    expect(await releaseStranded(bench.engine)).toBe(1);
  });

  test.each([
    ['has another agent', () => ({ agents: [other] })],
    ['does not serve its type', () => ({ taskTypes: ['develop'] })],
    ['does not serve its repo', () => ({ repos: ['other/repo'] })],
  ])('does not wait for a worker that %s', async (_, over) => {
    bench.pass(16 * 60);
    await register('useless', over());
    expect(await releaseStranded(bench.engine)).toBe(1);
  });
});

describe('tasks of a repo that compares agents', () => {
  const bench = new Stage({ issues: ISSUES });

  test('go to the agents of their hash, each counted as compared in its run', async () => {
    await updateRepo(bench, { compare: { plan: { claude: 1, codex: 1 } } });
    for (let n = 0; n < ISSUES; n += 1) {
      const task = await claimNext(bench);
      if (task) await finish(bench, task, goodOutcome('analyze', 0));
    }
    const request = { tenantId: bench.tenantId, workerId: bench.workerId, taskTypes: ALL_TASKS, repoIds: null };
    const claims = await Promise.all(
      Array.from({ length: 2 * ISSUES }, (_, n) =>
        claim(bench.engine, { ...request, agents: [n % 2 === 0 ? 'claude' : 'codex'] }),
      ),
    );
    const given = claims.flatMap((task) => (task ? [[task.issueNumber, task.agent]] : [])).sort();
    const expected = Array.from({ length: ISSUES }, (_, n) => [
      n + 1,
      comparedAgentOf(
        { plan: { claude: 1, codex: 1 } },
        { repoId: bench.repo.id, issueNumber: n + 1, taskType: 'plan' },
      ),
    ]);
    expect(given).toEqual(expected);
    const { db } = bench.database;
    const runs = db
      .selectFrom('runs')
      .select(['issue_number', 'compared_agent'])
      .where('tenant_id', '=', bench.tenantId);
    const compared = await runs.where('task_type', '=', 'plan').orderBy('issue_number').execute();
    expect(compared.map((run) => [run.issue_number, run.compared_agent])).toEqual(expected);
  });
});
