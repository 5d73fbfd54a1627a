/** Answers to a plan by comments on the sandbox host, delivered as webhooks. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Outcome, TaskType } from '@pipeline/domain';
import { admin, claim, drainInbox, receiveDelivery, registerWorker, report, start } from '@pipeline/engine';
import { type Bench, makeBench } from '../support/bench.ts';
import { ANNA, EVE, makeWorld, openIssue, type World } from '../support/sandbox-world.ts';
import { database } from './database.ts';

describe('comments on plans', () => {
  const SLUG = 'acme/shop';
  let world: World;
  let bench: Bench;

  beforeAll(async () => {
    world = await makeWorld([SLUG]);
    bench = await makeBench(database.store, SLUG);
    const by = { engine: bench.engine, actor: 'olga', reason: null };
    await admin.setPlanApproval(by, { repo: SLUG, org: null }, 'required');
  });

  /** Everything that people did on the host reaches the engine. */
  async function deliver(): Promise<void> {
    await world.sandbox.flushWebhooks();
    for (const { id, event, events } of world.webhooks.splice(0))
      await receiveDelivery(bench.engine, id, event, events);
    await drainInbox(bench.engine, () => world.host.vcs);
  }

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

  interface Reacted {
    reactions: Record<string, unknown>;
  }

  const planned = (plan: string): Outcome => ({ outcome: 'planned', result: { plan, plannedFiles: ['a.ts'] } });
  const issue = () =>
    database.db
      .selectFrom('issues')
      .select(['state', 'plan', 'plan_version', 'plan_status'])
      .where('repo_id', '=', bench.repo.id)
      .executeTakeFirstOrThrow();

  test('rejects, edits and approves a plan when a person with write permission comments, and no other person does', async () => {
    const number = await openIssue(world, SLUG);
    const comments = `/repos/${SLUG}/issues/${number}/comments`;
    const say = async (body: string, caller = ANNA) => {
      const { id } = await world.api<{ id: number }>('POST', comments, { body }, caller);
      await deliver();
      const { reactions } = await world.api<Reacted>('GET', `/repos/${SLUG}/issues/comments/${id}`);
      return Object.keys(reactions).filter((name) => name !== 'total_count' && Number(reactions[name]) > 0);
    };
    await deliver();
    await work('analyze', { outcome: 'analyzed', result: {} });
    await work('plan', planned('first'));
    expect(await say('/approve-plan', EVE)).toEqual([]);
    expect(await issue()).toMatchObject({ state: 'human-review-ready', plan_status: 'pending' });
    expect(await say('/reject-plan the tests are missing')).toEqual(['+1']);
    expect(await issue()).toMatchObject({ state: 'planning', plan_status: 'rejected' });
    await work('plan', planned('second'));
    expect(await say('/approve-plan v1')).toEqual(['confused']);
    expect(await say('/edit-plan v2\nsecond, with tests')).toEqual(['+1']);
    expect(await issue()).toEqual({
      state: 'ready-for-dev',
      plan: 'second, with tests',
      plan_version: 3,
      plan_status: 'approved',
    });
    expect(await say('/approve-plan')).toEqual(['confused']);
  });

  afterAll(() => database.clear());
});
