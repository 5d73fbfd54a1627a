import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findIssue, writeSettings } from '@pipeline/store';
import { labelIssue, makeTenant, register, type Tenant, WORK } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('limits of costs', () => {
  const { database } = hosting;
  let tenant: Tenant;
  let workerId: string;

  beforeEach(async () => {
    database.clock.now = new Date('2026-03-01T12:00:00Z');
    await follow({});
    tenant = await makeTenant(hosting.api);
    workerId = await register(hosting.api, tenant.token);
  });

  /** Stores settings as the monitor does when its configuration changes. */
  async function follow(settings: object) {
    await writeSettings(database.owner.db, settings);
    await hosting.api.context.settings.loop.tick();
  }
  const claim = () => hosting.api.post('/api/worker/claim', { workerId, taskTypes: WORK }, tenant);
  const say = ({ id, claimToken }: { id: string; claimToken: string }, action: string, more: object) =>
    hosting.api.post(`/api/worker/tasks/${id}/${action}`, { claimToken, ...more }, tenant);
  const analyzed = { outcome: 'analyzed', result: {} };
  const paid = (costUsd: number) => ({
    index: 0,
    model: 'm',
    provider: 'p',
    inputTokens: 1_000_000_000,
    outputTokens: 1,
    turns: 1,
    costUsd,
    stopReason: 'completed',
  });
  const later = (hours: number) => {
    database.clock.now = new Date((database.clock.now?.getTime() ?? 0) + hours * 3_600_000);
  };
  const healed = () => hosting.api.context.loops.find((loop) => loop.name === 'queue-healing')?.tick();

  afterAll(async () => {
    database.clock.now = null;
    await follow({});
  });

  describe('a budget', () => {
    test('a used-up budget of the day answers 204 to every claim until midnight UTC', async () => {
      await follow({ costLimits: { dailyUsd: 5 } });
      await labelIssue(hosting.api, tenant.repo, 1);
      await labelIssue(hosting.api, tenant.repo, 2);
      const first = (await claim()).body.task;
      const second = (await claim()).body.task;
      expect((await say(first, 'complete', { ...analyzed, invocations: [paid(5)] })).status).toBe(200);
      expect((await claim()).status).toBe(204);
      expect((await say(second, 'complete', { ...analyzed, invocations: [paid(1)] })).body.state).toBe('planning');
      later(12);
      await labelIssue(hosting.api, tenant.repo, 3);
      expect((await claim()).body.task).toMatchObject({ issueNumber: 3 });
    });

    test('a worker gets the rest of the budget of an issue, which stops that issue alone', async () => {
      await follow({ costLimits: { perIssueUsd: 3 } });
      await labelIssue(hosting.api, tenant.repo, 1);
      const first = (await claim()).body.task;
      expect(first.budgetUsd).toBe(3);
      await say(first, 'complete', { ...analyzed, invocations: [paid(1.25)] });
      const second = (await claim()).body.task;
      expect(second.budgetUsd).toBe(1.75);
      const planned = { outcome: 'planned', result: { plan: 'p', plannedFiles: [] } };
      expect((await say(second, 'complete', { ...planned, invocations: [paid(2)] })).body.state).toBe('ready-for-dev');
      await labelIssue(hosting.api, tenant.repo, 2);
      expect((await claim()).body.task).toMatchObject({ issueNumber: 2 });
      expect((await claim()).status).toBe(204);
    });
  });

  test('a repo that takes one task at a time: a worker that waits gets the next when that one has ended', async () => {
    const repos = database.db.updateTable('repos').set({ pool_size: 1 });
    await repos.where('tenant_id', '=', tenant.id).execute();
    await labelIssue(hosting.api, tenant.repo, 1);
    await labelIssue(hosting.api, tenant.repo, 2);
    const { task } = (await claim()).body;
    expect((await claim()).status).toBe(204);
    const waiting = hosting.api.post('/api/worker/claim', { workerId, taskTypes: WORK, waitMs: 20_000 }, tenant);
    await say(task, 'complete', analyzed);
    expect((await waiting).body.task).toMatchObject({ repo: `${tenant.repo.owner}/${tenant.repo.name}` });
    expect((await claim()).status).toBe(204);
  });

  test('a quota: a worker that requests a day is checked again after six hours; a whole day of it blocks the issue', async () => {
    await labelIssue(hosting.api, tenant.repo, 1);
    const failure = { errorMessage: '429 too many requests', errorClass: 'quota', retryAfterMs: 86_400_000 };
    for (let n = 0; n < 4; n += 1) {
      const { task } = (await claim()).body;
      expect((await say(task, 'fail', failure)).body).toEqual({ ok: true, requeued: true, attempt: 0 });
      later(5.99);
      await healed();
      expect((await claim()).status).toBe(204);
      later(0.01);
      await healed();
    }
    const { task } = (await claim()).body;
    expect((await say(task, 'fail', failure)).body).toEqual({ ok: true, requeued: false, attempt: 0 });
    expect(await findIssue(database.db, tenant.id, tenant.repo.id, 1)).toMatchObject({
      state: 'failure-blocked',
      block_reason: 'quota_exceeded',
      block_classification: 'quota',
    });
  });

  const bookedOf = async () => {
    const { db } = database;
    const issue = await findIssue(db, tenant.id, tenant.repo.id, 1);
    const findings = db
      .selectFrom('findings')
      .select(['finding_type', 'summary'])
      .where('issue_id', '=', issue?.id ?? 0);
    return { usd: issue?.cost_usd, state: issue?.state, findings: await findings.execute() };
  };

  test.each([
    ['a negative number of tokens', { inputTokens: -5 }],
    ['a fraction of a token', { outputTokens: 1.5 }],
    ['a cost beyond every limit', { costUsd: 1e12, inputTokens: 1 }],
    ['a cost below zero', { costUsd: -3, inputTokens: 1 }],
    ['tokens as text', { inputTokens: '12' }],
    ['no name of the model', { model: null }],
  ])('a report with %s is kept, and the figure is clamped and noted', async (_what, wrong) => {
    await labelIssue(hosting.api, tenant.repo, 1);
    const { task } = (await claim()).body;
    const answer = await say(task, 'complete', { ...analyzed, invocations: [{ ...paid(1), ...wrong }] });
    expect([answer.status, answer.body.state]).toEqual([200, 'planning']);
    const { usd, findings } = await bookedOf();
    expect(usd).toBeLessThanOrEqual(1);
    expect(findings).toEqual([expect.objectContaining({ finding_type: 'cost_anomaly' })]);
  });

  test.each([
    ['of an absurd cost', 5_000],
    ['of a cost below 200 USD per million tokens', 3],
  ])('a report %s counts at most its tokens at the highest rate of the model, and is noted', async (_what, usd) => {
    await labelIssue(hosting.api, tenant.repo, 1);
    const { task } = (await claim()).body;
    const invented = { ...paid(usd), model: 'claude-sonnet-4-x', inputTokens: 100_000, outputTokens: 0 };
    await say(task, 'complete', { ...analyzed, invocations: [invented] });
    const booked = await bookedOf();
    expect(booked.usd).toBe(1.5);
    expect(booked.findings[0]?.summary).toBe(
      `A worker reported a cost of ${usd} USD; 1.5 USD are counted, which is the most that its tokens cost.`,
    );
  });

  test('small costs are compared with the rate of the model when they exceed 1 USD together', async () => {
    await labelIssue(hosting.api, tenant.repo, 1);
    const { task } = (await claim()).body;
    const calls = [0, 1, 2].map((index) => {
      const tokens = { inputTokens: 10_000, outputTokens: 0 };
      return { ...paid(0.9), ...tokens, index, model: 'claude-sonnet-4-x' };
    });
    await say(task, 'progress', { status: 'at it', invocations: calls.slice(0, 1) });
    expect((await bookedOf()).usd).toBe(0.9);
    await say(task, 'complete', { ...analyzed, invocations: calls.slice(1) });
    expect((await bookedOf()).usd).toBe(1.2);
  });

  test('a reported cost counts at most 200 USD per million tokens when the model is unknown', async () => {
    await labelIssue(hosting.api, tenant.repo, 1);
    const { task } = (await claim()).body;
    const invented = { ...paid(5_000), inputTokens: 10_000, outputTokens: 0 };
    await say(task, 'complete', { ...analyzed, invocations: [invented] });
    expect(await bookedOf()).toMatchObject({ usd: 2, findings: [{ finding_type: 'cost_anomaly' }] });
  });

  test('the costs of a run count at most the budget of the issue when the model has no price', async () => {
    await follow({ costLimits: { perIssueUsd: 5 } });
    await labelIssue(hosting.api, tenant.repo, 1);
    const { task } = (await claim()).body;
    const calls = [0, 1, 2].map((index) => ({ ...paid(4), index }));
    await say(task, 'progress', { status: 'at it', invocations: calls });
    expect((await bookedOf()).usd).toBe(5);
    await say(task, 'complete', { ...analyzed, invocations: calls.map((call) => ({ ...call, costUsd: 40 })) });
    expect(await bookedOf()).toMatchObject({ usd: 5, state: 'planning' });
  });
});
