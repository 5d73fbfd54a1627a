import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import {
  actOnIssue,
  enforceBudgets,
  fail,
  reclaimExpired,
  releaseDue,
  report,
  transitionIssue,
} from '@pipeline/engine';
import { inTransaction, lockToday } from '@pipeline/store';
import { ALL_TASKS, applyHostIssue, drain, goodOutcome, hostIssue, makeBench, paid, refOf, take } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage({ at: new Date('2026-03-01T22:00:00Z'), issues: 2 });
const { database } = bench;
const settings = { ...DEFAULT_SETTINGS };

beforeEach(() => {
  limits({});
  bench.engine.settings = () => settings;
});

function limits(to: { dailyUsd?: number; perIssueUsd?: number }) {
  settings.costLimits = { ...DEFAULT_SETTINGS.costLimits, ...to };
}
/** The next task succeeds with this cost. */
async function spend(costUsd: number) {
  const task = await take(bench);
  const outcome = goodOutcome(task.taskType, task.issueNumber ?? 0);
  const rest = { artefacts: [], findings: [], invocations: [paid(costUsd)] };
  await report(bench.engine, refOf(bench, task), { ...outcome, ...rest });
  return task;
}
const mine = <T extends { where: (...args: never[]) => T }>(query: T): T =>
  (query.where as unknown as (column: string, op: string, value: number) => T)('tenant_id', '=', bench.tenantId);
const alerts = async () => {
  const rows = await mine(database.db.selectFrom('alerts').selectAll()).orderBy('fingerprint').execute();
  return rows.filter((row) => row.resolved_at === null);
};
const severities = async () => (await alerts()).map(({ fingerprint, severity }) => [fingerprint, severity]);
const events = async () => {
  const rows = await mine(database.db.selectFrom('pipeline_events').selectAll())
    .where('event_type', '=', 'budget_threshold')
    .orderBy('id')
    .execute();
  return rows.map(({ payload }) => payload);
};
const holds = async () => {
  const rows = await mine(database.db.selectFrom('tasks').select(['issue_number', 'held', 'status'])).execute();
  return Object.fromEntries(rows.map((row) => [row.issue_number, row.status === 'claimed' ? 'claimed' : row.held]));
};
const nothingToClaim = () => expect(take(bench)).rejects.toThrow('nothing to claim');

describe('an unreported cost', () => {
  /** The next task succeeds with a call that reports neither a cost nor tokens. */
  async function spendUnreported() {
    const task = await take(bench);
    const silent = { ...paid(0), costUsd: null, inputTokens: 0, outputTokens: 0 };
    const outcome = goodOutcome(task.taskType, task.issueNumber ?? 0);
    await report(bench.engine, refOf(bench, task), { ...outcome, artefacts: [], findings: [], invocations: [silent] });
  }

  test('uses up no budget and holds no task, while what is reported beside it still counts', async () => {
    limits({ dailyUsd: 10, perIssueUsd: 5 });
    await spendUnreported();
    expect(await holds()).toEqual({ 1: null, 2: null });
    expect(await inTransaction(database.db, (tx) => lockToday(tx, bench.tenantId))).toBeUndefined();
    expect(await bench.issue(1)).toMatchObject({ cost_usd: 0, unreported_costs: 1 });
    await spend(5);
    await spend(5);
    expect(await bench.issue(1)).toMatchObject({ unreported_costs: 1 });
    expect((await events()).at(-1)).toEqual({ percent: 100, scope: 'day' });
    await nothingToClaim();
  });

  test('gives a claim the whole budget that is left by the reported costs', async () => {
    limits({ perIssueUsd: 5 });
    await spendUnreported();
    expect(await take(bench)).toMatchObject({ issueNumber: 1, budgetUsd: 5 });
  });
});

describe('the day of a tenant', () => {
  beforeEach(() => limits({ dailyUsd: 10 }));

  test('reports each threshold once: one alert, one event', async () => {
    await spend(7.99);
    expect(await events()).toEqual([]);
    await spend(0.01);
    await spend(0.5);
    expect(await events()).toEqual([{ percent: 80, scope: 'day' }]);
    await spend(1.5);
    expect(await events()).toEqual([80, 90, 100].map((percent) => ({ percent, scope: 'day' })));
    expect(await severities()).toEqual([
      ['budget:day:100', 'critical'],
      ['budget:day:80', 'info'],
      ['budget:day:90', 'warning'],
    ]);
    expect((await alerts())[0]).toMatchObject({ value: 10, threshold: 10, count: 1, detector: 'budget_threshold' });
  });

  test('lets running tasks finish, allows no claim and inserts new tasks held when it is used up', async () => {
    const running = await take(bench);
    await spend(10);
    await nothingToClaim();
    const outcome = { ...goodOutcome(running.taskType, 1), artefacts: [], findings: [], invocations: [paid(2)] };
    expect(await report(bench.engine, refOf(bench, running), outcome)).toMatchObject({ state: 'planning' });
    expect((await bench.issue(1)).cost_usd + (await bench.issue(2)).cost_usd).toBe(12);
    expect(await holds()).toEqual({ 1: 'budget', 2: 'budget' });
    await applyHostIssue(bench, hostIssue(3));
    expect(await holds()).toMatchObject({ 3: 'budget' });
  });

  test('holds waiting tasks by the loop and shows the remedy on the host when it is used up', async () => {
    await spend(10);
    expect(await holds()).toEqual({ 1: 'budget', 2: null });
    await nothingToClaim();
    expect(await enforceBudgets(bench.engine)).toBe(false);
    expect(await holds()).toEqual({ 1: 'budget', 2: 'budget' });
    expect((await bench.issue(2)).status_comment_body).toContain('continues automatically at midnight UTC');
  });

  test('resolves alerts, releases tasks and updates the comment when the day turns', async () => {
    await spend(10);
    await enforceBudgets(bench.engine);
    bench.pass(2 * 3600 - 1);
    await enforceBudgets(bench.engine);
    await nothingToClaim();
    bench.pass(1);
    await enforceBudgets(bench.engine);
    expect(await alerts()).toEqual([]);
    expect(await holds()).toEqual({ 1: null, 2: null });
    expect((await bench.issue(2)).status_comment_body).not.toContain('budget');
    await spend(8);
    expect(await events()).toHaveLength(4);
    expect(await severities()).toEqual([['budget:day:80', 'info']]);
  });

  test('keeps the alerts of a new day that are raised before the loop has resolved the old ones', async () => {
    await spend(9);
    bench.pass(2 * 3600);
    await spend(8);
    expect(await events()).toHaveLength(3);
    const news = { fingerprint: 'budget:day:80', count: 1, first_seen_at: '2026-03-02T00:00:00.000Z' };
    expect(await alerts()).toContainEqual(expect.objectContaining(news));
    await enforceBudgets(bench.engine);
    expect(await severities()).toEqual([['budget:day:80', 'info']]);
  });

  test.each([
    ['raised', 20],
    ['removed', null],
  ] as const)('the limit is %s: work goes on', async (_how, dailyUsd) => {
    await spend(10);
    await enforceBudgets(bench.engine);
    limits(dailyUsd === null ? {} : { dailyUsd });
    await enforceBudgets(bench.engine);
    expect(await alerts()).toEqual([]);
    expect(await holds()).toEqual({ 1: null, 2: null });
    await spend(6.01);
    expect(await events()).toHaveLength(dailyUsd === null ? 3 : 4);
  });

  test('holds tasks immediately when the limit is set below the spending', async () => {
    limits({});
    await spend(10);
    limits({ dailyUsd: 5 });
    await nothingToClaim();
    await enforceBudgets(bench.engine);
    expect(await holds()).toEqual({ 1: 'budget', 2: 'budget' });
    expect(await events()).toHaveLength(3);
  });

  test('holds tasks that are lost or returned meanwhile', async () => {
    const lost = await take(bench);
    await spend(10);
    bench.pass(300);
    await reclaimExpired(bench.engine);
    expect(await holds()).toEqual({ 1: 'budget', 2: 'budget' });
    expect(lost.taskType).toBe('analyze');
  });

  test('keeps the hold after a pause and resume, or a retry', async () => {
    await spend(10);
    await enforceBudgets(bench.engine);
    await actOnIssue(bench.engine, await bench.key(1), 'pause', OLGA);
    expect(await holds()).toMatchObject({ 1: 'paused' });
    await actOnIssue(bench.engine, await bench.key(1), 'resume', OLGA);
    await actOnIssue(bench.engine, await bench.key(2), 'retry', OLGA);
    expect(await holds()).toEqual({ 1: 'budget', 2: 'budget' });
  });

  test('adds concurrent costs and reports each threshold once', async () => {
    for (let number = 3; number <= 8; number += 1) await applyHostIssue(bench, hostIssue(number));
    const tasks = [];
    for (let n = 0; n < 8; n += 1) tasks.push(await take(bench));
    await Promise.all(
      tasks.map((task) =>
        report(bench.engine, refOf(bench, task), {
          ...goodOutcome(task.taskType, task.issueNumber ?? 0),
          artefacts: [],
          findings: [],
          invocations: [paid(1.25)],
        }),
      ),
    );
    const day = await inTransaction(database.store.db, (tx) => lockToday(tx, bench.tenantId));
    expect(day).toMatchObject({ spent_usd: 10, told_percent: 100 });
    expect(await events()).toEqual([80, 90, 100].map((percent) => ({ percent, scope: 'day' })));
  });

  test('each tenant has its own day', async () => {
    const other = await makeBench(database.store, { slug: `${bench.repo.owner}-other/shop` });
    other.engine.settings = () => settings;
    await applyHostIssue(other, hostIssue(1));
    await spend(10);
    await enforceBudgets(bench.engine);
    expect(await take(other, ALL_TASKS)).toMatchObject({ issueNumber: 1 });
  });

  test('holds the whole backlog and shows it on the host for the next tasks only', async () => {
    for (let number = 3; number <= 60; number += 1) await applyHostIssue(bench, hostIssue(number));
    await spend(10);
    await enforceBudgets(bench.engine);
    expect(new Set(Object.values(await holds()))).toEqual(new Set(['budget']));
    const bodies = await mine(database.db.selectFrom('issues').select('status_comment_body')).execute();
    expect(bodies.filter((row) => row.status_comment_body?.includes('budget'))).toHaveLength(50);
    limits({});
    await enforceBudgets(bench.engine);
    expect(new Set(Object.values(await holds()))).toEqual(new Set([null]));
  });
});

describe('the budget of an issue', () => {
  beforeEach(() => limits({ perIssueUsd: 2 }));

  test('stops only that issue, reports it, and releases it when an operator raises the limit', async () => {
    const { issueNumber } = await spend(2);
    const stopped = issueNumber ?? 0;
    expect(await events()).toEqual([80, 90, 100].map((percent) => ({ percent, scope: 'issue' })));
    expect((await severities()).map(([, severity]) => severity)).toEqual(['warning', 'info', 'warning']);
    expect((await alerts())[0]).toMatchObject({ issue_number: stopped, repo: `${bench.repo.owner}/shop`, value: 2 });
    expect(await holds()).toEqual({ [stopped]: 'budget', [3 - stopped]: null });
    expect((await bench.issue(stopped)).status_comment_body).toContain('An operator raises the budget per issue');
    await enforceBudgets(bench.engine);
    bench.pass(86_400);
    await enforceBudgets(bench.engine);
    expect(await holds()).toMatchObject({ [stopped]: 'budget' });
    limits({ perIssueUsd: 3 });
    await enforceBudgets(bench.engine);
    expect(await holds()).toMatchObject({ [stopped]: null });
    expect(await alerts()).toEqual([]);
  });

  test('reports a used-up budget while a task runs, which finishes', async () => {
    const task = await take(bench);
    expect(task.budgetUsd).toBe(2);
    const failure = { errorMessage: 'socket hang up', errorClass: 'transient' as const, invocations: [paid(1.9)] };
    await fail(bench.engine, refOf(bench, task), failure);
    expect(await events()).toHaveLength(2);
    await take(bench);
    bench.pass(31);
    await releaseDue(bench.engine);
    expect(await take(bench)).toMatchObject({ id: expect.not.stringContaining(task.id), budgetUsd: 0.1, attempt: 1 });
  });

  test('holds the next attempt when a failure uses it up, and keeps its backoff', async () => {
    const task = await take(bench);
    const failure = { errorMessage: 'socket hang up', errorClass: 'transient' as const, invocations: [paid(2)] };
    await fail(bench.engine, refOf(bench, task), failure);
    const number = task.issueNumber ?? 0;
    expect(await holds()).toMatchObject({ [number]: 'budget' });
    limits({});
    await enforceBudgets(bench.engine);
    expect(await holds()).toMatchObject({ [number]: 'backoff' });
    bench.pass(31);
    expect(await releaseDue(bench.engine)).toBe(1);
  });

  test('holds the waiting task at its claim when the limit is lowered below the spending', async () => {
    limits({});
    const { issueNumber } = await spend(2);
    limits({ perIssueUsd: 1 });
    const next = await take(bench);
    expect(next.issueNumber).not.toBe(issueNumber);
    expect(await holds()).toMatchObject({ [issueNumber ?? 0]: 'budget' });
    expect((await bench.issue(issueNumber ?? 0)).status_comment_body).toContain('raises the budget per issue');
  });

  test('holds a task whose backoff ends over the limit', async () => {
    limits({});
    const task = await take(bench);
    const failure = { errorMessage: 'socket hang up', errorClass: 'transient' as const, invocations: [paid(2)] };
    await fail(bench.engine, refOf(bench, task), failure);
    limits({ perIssueUsd: 1 });
    bench.pass(31);
    await releaseDue(bench.engine);
    expect(await holds()).toMatchObject({ [task.issueNumber ?? 0]: 'budget' });
  });

  test('holds the task that waited for a withdrawn one when that uses it up', async () => {
    const task = await take(bench);
    const number = task.issueNumber ?? 0;
    await transitionIssue(bench.engine, await bench.key(number), 'planning', OLGA);
    expect(await holds()).toMatchObject({ [number]: 'handover' });
    const failure = { errorMessage: 'stopped', errorClass: 'unknown' as const, invocations: [paid(2)] };
    await expect(fail(bench.engine, refOf(bench, task), failure)).rejects.toThrow('cancelled');
    expect(await holds()).toMatchObject({ [number]: 'budget' });
  });

  test('resolves its alerts when the issue ends', async () => {
    const { issueNumber } = await spend(2);
    await actOnIssue(bench.engine, await bench.key(issueNumber ?? 0), 'cancel', OLGA);
    await drain(bench);
    await enforceBudgets(bench.engine);
    expect(await alerts()).toEqual([]);
  });
});
