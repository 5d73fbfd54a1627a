/** Plans that need the approval of a person: answers of operators and by comments on the host. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { State } from '@pipeline/domain';
import {
  actOnIssue,
  admin,
  answerPlanOf,
  applyHostEvent,
  listPlans,
  transitionIssue,
  watchSla,
} from '@pipeline/engine';
import { drain, finish, say, take } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const stage = new Stage();

const setMode = (mode: 'required' | 'off') => {
  const { owner, name } = stage.repo;
  const by = { engine: stage.engine, actor: 'olga', reason: null };
  return admin.setPlanApproval(by, { repo: `${owner}/${name}`, org: null }, mode);
};
const plan = async (text = 'do it') => {
  const task = await take(stage);
  expect(task.taskType).toBe('plan');
  await finish(stage, task, { outcome: 'planned', result: { plan: text, plannedFiles: ['README.md'] } });
  return task;
};
const approve = async (version: number, text?: string) =>
  answerPlanOf(stage.engine, await stage.key(), { kind: 'approve', version, text }, OLGA);
const reject = async (version: number, reason: string) =>
  answerPlanOf(stage.engine, await stage.key(), { kind: 'reject', version }, { ...OLGA, reason });
const versions = async () => {
  const { owner, name } = stage.repo;
  const { items } = await listPlans(stage.engine, { owner, repo: name, number: 1 }, { limit: 10, offset: 0 });
  return items.map(({ version, author, body, status, answeredBy, reason }) =>
    [version, author, body, status, answeredBy, reason].join(' | '),
  );
};
const state = async (): Promise<State> => (await stage.issue()).state;
const reactions = () => stage.host.reactions.map(([, content]) => content);

beforeEach(async () => {
  await setMode('required');
  await stage.work();
  expect(await state()).toBe('planning');
});

describe('a plan that needs an approval', () => {
  test('lets development begin with it when it is approved', async () => {
    await plan();
    expect(await state()).toBe('human-review-ready');
    expect((await stage.tasks()).length).toBe(0);
    expect(await approve(1)).toEqual({ version: 1, state: 'ready-for-dev' });
    const task = await take(stage);
    expect(task.taskType).toBe('develop');
    expect(task.payload).toMatchObject({ plan: { text: 'do it', plannedFiles: ['README.md'] }, planRejections: [] });
    expect((await stage.transitions()).slice(-2)).toEqual([
      'planning -> human-review-ready (planned)',
      'human-review-ready -> ready-for-dev (plan-approved)',
    ]);
  });

  test('a plan that a person edits is developed with the edited text, and keeps the text of the agent', async () => {
    await plan();
    stage.pass(60);
    expect(await approve(1, 'do it well')).toEqual({ version: 2, state: 'ready-for-dev' });
    expect((await take(stage)).payload.plan).toEqual({ text: 'do it well', plannedFiles: ['README.md'] });
    expect(await versions()).toEqual([
      '2 | olga | do it well | approved | olga | ',
      '1 | planner | do it | withdrawn | olga | edited as version 2',
    ]);
  });

  test('returns to the planner with all reasons when it is rejected', async () => {
    await plan('first');
    await reject(1, 'no tests');
    await plan('second');
    await reject(2, 'still no tests');
    const task = await take(stage);
    expect(task.payload.planRejections).toEqual([
      { author: 'olga', body: 'no tests' },
      { author: 'olga', body: 'still no tests' },
    ]);
    expect(task.payload.plan?.text).toBe('second');
    await finish(stage, task, { outcome: 'planned', result: { plan: 'third', plannedFiles: [] } });
    await approve(3);
    expect((await take(stage)).payload.planRejections).toEqual([]);
  });

  test('refuses an answer when it is doubled, outdated or names no version', async () => {
    await plan();
    await expect(approve(2)).rejects.toThrow('No version 2 of the plan waits for an approval');
    await reject(1, 'no');
    await expect(approve(1)).rejects.toThrow('Version 1 of the plan was already rejected');
    await plan('second');
    await expect(approve(1)).rejects.toThrow('Version 1 of the plan is outdated: version 2 is pending');
    const answers = await Promise.allSettled([approve(2), approve(2), reject(2, 'late')]);
    expect(answers.filter(({ status }) => status === 'fulfilled').length).toBe(1);
  });

  test('stays without effect on development when reviews and pushes concern an older pull request', async () => {
    const review = { id: 9, author: 'alice', body: '', commitSha: 'abc1234', submittedAt: '2027-01-01T00:00:00Z' };
    await plan();
    await approve(1);
    await stage.work();
    await drain(stage);
    const { number: prNumber } = await stage.database.db
      .selectFrom('pull_requests')
      .select('number')
      .where('tenant_id', '=', stage.tenantId)
      .executeTakeFirstOrThrow();
    await finish(stage, await take(stage), { outcome: 'changes-requested', result: { body: 'no', comments: [] } });
    await finish(stage, await take(stage), { outcome: 'replan', result: { reason: 'other way' } });
    await plan('second');
    for (const verdict of ['approved', 'changes_requested'] as const) {
      const event = { kind: 'review', repo: stage.repo, prNumber, sender: 'alice' } as const;
      await applyHostEvent(stage, {
        ...event,
        review: { ...review, id: review.id + verdict.length, verdict },
      } as never);
      expect(await state()).toBe('human-review-ready');
    }
    await actOnIssue(stage.engine, await stage.key(), 'reimplement', OLGA);
    expect(await state()).toBe('human-review-ready');
    await approve(2);
    expect((await take(stage)).payload.plan?.text).toBe('second');
  });

  test('counts as approved by the operator when the issue is moved to development', async () => {
    await plan();
    await transitionIssue(stage.engine, await stage.key(), 'ready-for-dev', { ...OLGA, reason: 'urgent' });
    expect(await versions()).toEqual(['1 | planner | do it | approved | olga | urgent']);
  });

  test('a cancel of the issue withdraws the plan', async () => {
    await plan();
    await actOnIssue(stage.engine, await stage.key(), 'cancel', OLGA);
    expect(await versions()).toEqual(['1 | planner | do it | withdrawn | olga | ']);
    await expect(approve(1)).rejects.toThrow('Version 1 of the plan was already withdrawn');
  });

  test('can still be approved when plan approval is switched off meanwhile', async () => {
    await plan();
    await setMode('off');
    expect(await approve(1)).toEqual({ version: 1, state: 'ready-for-dev' });
  });

  test('the status comment names the plan, and the SLA alert does when it waits too long', async () => {
    await plan('# Steps\n\n@bob does it');
    const { action } = await stage.entry('updateComment');
    expect(action).toMatchObject({ body: expect.stringContaining('Waiting for the approval of the plan') });
    expect(action).toMatchObject({ body: expect.stringMatching(/> # Steps[\s\S]*`\/approve-plan v1`/) });
    expect(action).toMatchObject({ body: expect.not.stringContaining('@bob') });
    stage.pass(25 * 3_600);
    await watchSla(stage.engine);
    const alerts = await stage.database.db
      .selectFrom('alerts')
      .select('message')
      .where('tenant_id', '=', stage.tenantId)
      .execute();
    expect(alerts.map(({ message }) => message).join()).toContain('waits for the approval of version 1 of its plan');
  });
});

describe('a comment on the host', () => {
  test('approves the plan when its author has write permission, and is refused otherwise', async () => {
    await plan();
    stage.host.permission = 'read';
    await say(stage, 1, '/approve-plan', { author: 'mallory', issueAuthor: 'mallory' });
    expect(await state()).toBe('human-review-ready');
    stage.host.permission = 'write';
    await say(stage, 1, '/approve-plan');
    expect(await state()).toBe('ready-for-dev');
    await say(stage, 1, '/approve-plan v1');
    expect(reactions()).toEqual(['+1', 'confused']);
  });

  test('rejects the plan when it has a reason, and edits it when it has a text', async () => {
    await plan();
    await say(stage, 1, '/reject-plan');
    expect(await state()).toBe('human-review-ready');
    await say(stage, 1, '/reject-plan the tests are missing');
    expect(await state()).toBe('planning');
    await plan('second');
    await say(stage, 1, '/edit-plan v2');
    expect(await state()).toBe('human-review-ready');
    await say(stage, 1, '/edit-plan v2\n# Third\n\nwith tests');
    expect((await versions())[0]).toBe('3 | alice | # Third\n\nwith tests | approved | alice | ');
    expect(reactions()).toEqual(['confused', '+1', 'confused', '+1']);
  });

  test('refuses a comment that was written before the plan it would approve', async () => {
    await plan();
    const comment = { id: 77_001, author: 'alice', body: '/approve-plan', createdAt: '2026-02-28T23:59:00Z' };
    await applyHostEvent(stage, {
      kind: 'comment',
      repo: stage.repo,
      issueNumber: 1,
      onPullRequest: false,
      issueAuthor: 'alice',
      comment: { ...comment, updatedAt: comment.createdAt },
      sender: 'alice',
    } as never);
    expect(await state()).toBe('human-review-ready');
  });
});

test('changes nothing when the workflow requires no approval', async () => {
  await setMode('off');
  await plan();
  expect(await state()).toBe('ready-for-dev');
  expect(await versions()).toEqual([]);
  expect(await stage.issue()).toMatchObject({ plan_status: null, plan_version: 0 });
});
