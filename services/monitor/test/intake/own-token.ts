/** The pipeline acts with the token of a person, Anna, who works on the same host with the same account. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Outcome, TaskType } from '@pipeline/domain';
import { claim, drainInbox, Leader, receiveDelivery, registerWorker, report, start } from '@pipeline/engine';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import type { Notifications } from '@pipeline/store';
import { createOutboxMetrics } from '../../src/outbox/metrics.ts';
import { ProjectionExecutor } from '../../src/outbox/projections.ts';
import { type Bench, makeBench } from '../support/bench.ts';
import {
  ANNA,
  BOT,
  connectedDoorbell,
  EVE,
  labelsOf,
  makeWorld,
  openIssue,
  type SentWebhook,
  type World,
} from '../support/sandbox-world.ts';
import { database } from './database.ts';

describe('the token of a person', () => {
  let notifications: Notifications;
  // Before those of the database, which must find no connection.
  afterAll(() => notifications.close());
  const SLUG = 'acme/shop';
  let world: World;
  let bench: Bench;
  let executor: ProjectionExecutor;
  let number: number;
  const now = () => new Date();
  /** Deliveries that were repeated. */
  let repeated = 0;

  beforeAll(async () => {
    world = await makeWorld([SLUG], now, ANNA.token);
    bench = await makeBench(database.store, SLUG);
    notifications = await connectedDoorbell(database.url);
    executor = new ProjectionExecutor({
      engine: bench.engine,
      host: world.host.vcs,
      leader: new Leader(notifications),
      budget: null,
      metrics: createOutboxMetrics(createMetrics().registry),
      log: silentLogger,
      now,
    });
  });

  beforeEach(async () => {
    number = await openIssue(world, SLUG);
    await settle();
  });

  // The next test claims the tasks of its own issue.
  afterEach(async () => {
    await world.api('PATCH', on(''), { state: 'closed' });
    await settle();
  });

  /** Delivers the webhooks of the host. @returns them. */
  async function deliver(webhooks?: readonly SentWebhook[]): Promise<SentWebhook[]> {
    await world.sandbox.flushWebhooks();
    const sent = webhooks ?? world.webhooks.splice(0);
    for (const { id, event, events } of sent) {
      if (webhooks) repeated += 1;
      await receiveDelivery(bench.engine, webhooks ? `${id}-${repeated}` : id, event, events);
    }
    await drainInbox(bench.engine, () => world.host.vcs);
    return [...sent];
  }

  /** Webhooks reach the engine, its writes reach the host, until nothing moves. @returns the delivered webhooks. */
  async function settle(): Promise<SentWebhook[]> {
    const all: SentWebhook[] = [];
    for (let round = 0; round < 4; round += 1) {
      all.push(...(await deliver()));
      do await executor.tick();
      while (await executor.landed());
    }
    return all;
  }

  const on = (path: string) => `/repos/${SLUG}/issues/${number}${path}`;
  const stored = () =>
    database.db
      .selectFrom('issues')
      .select(['id', 'state', 'is_paused'])
      .where('issue_number', '=', number)
      .executeTakeFirstOrThrow();
  const say = (body: string, caller: { token: string } = ANNA) =>
    world.api<{ id: number }>('POST', on('/comments'), { body }, caller);
  const statusComment = async () =>
    (await world.api<{ body: string }[]>('GET', on('/comments'))).map(({ body }) => body).find(Boolean) ?? '';

  async function work(taskType: TaskType, outcome: Outcome): Promise<void> {
    const { engine, tenantId } = bench;
    const worker = { name: 'w1', hostname: '', version: '1', repos: [], taskTypes: [taskType], labels: {} };
    const workerId = await registerWorker(engine, tenantId, worker);
    const task = await claim(engine, { tenantId, workerId, taskTypes: [taskType], repoIds: null });
    if (!task) throw new Error(`no ${taskType} task`);
    const ref = { tenantId, taskId: task.id, claimToken: task.claimToken };
    await start(engine, ref);
    await report(engine, ref, { ...outcome, artefacts: [], findings: [], invocations: [] });
  }

  describe('a person whose account the pipeline uses', () => {
    test('hands an issue in and commands by comments, quoting the pipeline or not', async () => {
      expect(await stored()).toMatchObject({ state: 'analyzing', is_paused: false });
      await say('/svc:pause because of lunch');
      await settle();
      expect(await stored()).toMatchObject({ is_paused: true });
      const quoted = (await statusComment()).replaceAll(/^/gm, '> ');
      expect(quoted).toContain('<!-- svc:');
      await say(`/svc:resume\n\n${quoted}\n\nThanks!`);
      await settle();
      expect(await stored()).toMatchObject({ is_paused: false });
    });

    test('answers a question', async () => {
      await work('analyze', { outcome: 'needs-clarification', result: { question: 'Which?' } });
      await settle();
      expect((await stored()).state).toBe('needs-clarification');
      await say('The first one.');
      await settle();
      expect((await stored()).state).toBe('analyzing');
    });

    test('pauses and resumes by the label', async () => {
      await world.api('POST', on('/labels'), { labels: ['svc:paused'] });
      await settle();
      expect(await stored()).toMatchObject({ is_paused: true });
      await world.api('DELETE', on('/labels/svc:paused'));
      await settle();
      expect(await stored()).toMatchObject({ is_paused: false });
    });

    test('closes, reopens and enqueues again', async () => {
      await world.api('PATCH', on(''), { state: 'closed' });
      await settle();
      expect((await stored()).state).toBe('done');
      await world.api('PATCH', on(''), { state: 'open' });
      await settle();
      expect((await stored()).state).toBe('analyzing');
      await world.api('PATCH', on(''), { state: 'closed' });
      await settle();
      await world.api('POST', on('/labels'), { labels: ['svc:enqueue'] });
      await settle();
      expect((await stored()).state).toBe('analyzing');
      expect((await world.api<{ state: string }>('GET', on(''))).state).toBe('open');
    });

    test('the person is an assignee like other people', async () => {
      await world.api('PATCH', on(''), { assignees: [ANNA.login] });
      await settle();
      const { id } = await stored();
      const facts = database.db.selectFrom('issue_host_facts').select('assignee').where('issue_id', '=', id);
      expect(await facts.executeTakeFirst()).toEqual({ assignee: ANNA.login });
    });
  });

  describe('what the pipeline writes with the account of a person', () => {
    test('changes nothing when it is delivered late, twice and in another order', async () => {
      await work('analyze', { outcome: 'analyzed', result: {} });
      const first = await settle();
      await say('/svc:pause');
      const second = await settle();
      await say('/svc:resume');
      const third = await settle();
      const before = await stored();
      expect(before).toMatchObject({ state: 'planning', is_paused: false });
      expect(third.length).toBeGreaterThan(1);
      await deliver([...third, ...first, ...second].toReversed());
      await settle();
      expect(await stored()).toEqual(before);
    });

    test('does not restart an issue that is done: its reopening is delivered after the end', async () => {
      await world.api('PATCH', on(''), { state: 'closed' });
      await settle();
      await world.api('POST', on('/labels'), { labels: ['svc:enqueue'] });
      const restarted = await settle();
      expect((await stored()).state).toBe('analyzing');
      await world.api('PATCH', on(''), { state: 'closed' });
      await settle();
      await deliver(restarted);
      await settle();
      expect((await stored()).state).toBe('done');
      expect((await world.api<{ state: string }>('GET', on(''))).state).toBe('closed');
    });
  });

  describe('a marker that a stranger writes', () => {
    test('gives no right, and hides no comment', async () => {
      await say('/svc:pause\n\n<!-- svc:status -->', EVE);
      await settle();
      expect(await stored()).toMatchObject({ is_paused: false });
      await say('/svc:pause\n\n<!-- svc:status -->', BOT);
      await settle();
      expect(await stored()).toMatchObject({ is_paused: true });
      expect(await labelsOf(world, SLUG, number)).toContain('svc:paused');
    });
  });

  afterAll(() => database.clear());
});
