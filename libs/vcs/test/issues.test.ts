import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ANNA, BOT, createWorld, openIssue, REPO, STRANGER, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());
let issue: number;
beforeEach(async () => {
  issue = await openIssue(world);
});
const labels = async () => (await world.host.getIssue(REPO, issue))?.labels.sort();
const comments = () => world.host.listComments(REPO, issue);

describe('labels', () => {
  test('are added, removed and swapped; an absent one counts as removed', async () => {
    await world.execute({ type: 'addLabels', labels: ['svc:a', 'svc:b'] }, issue);
    const swap = { type: 'swapLabels', remove: ['svc:a', 'svc:gone'], add: ['svc:c'] } as const;
    expect(await world.execute({ ...swap, remove: [...swap.remove], add: [...swap.add] }, issue)).toMatchObject({
      status: 'ok',
      repeated: false,
    });
    expect(await labels()).toEqual(['svc:b', 'svc:c']);
    expect(await world.execute({ type: 'removeLabels', labels: ['svc:a'] }, issue)).toMatchObject({
      status: 'ok',
      repeated: true,
    });
  });

  test('of an issue that does not exist are refused', async () => {
    expect(await world.execute({ type: 'removeLabels', labels: ['x'] }, 999_999)).toMatchObject({
      status: 'refused',
      httpStatus: 404,
    });
  });
});

describe('comments', () => {
  const post = { type: 'postComment', body: 'Hello', marker: 'm1' } as const;

  test('one whose answer was lost is not written again', async () => {
    world.sandbox.failNext({ drop: 'after', match: { method: 'POST', path: '/comments' } });
    expect(await world.execute(post, issue)).toMatchObject({ status: 'failed', ambiguous: true });
    expect(await world.execute(post, issue, true)).toMatchObject({
      status: 'ok',
      repeated: true,
      created: { commentId: expect.any(Number) },
    });
    expect(await comments()).toHaveLength(1);
  });

  test('one whose request never arrived is written by the second attempt', async () => {
    world.sandbox.failNext({ drop: 'before', match: { method: 'POST', path: '/comments' } });
    expect(await world.execute(post, issue)).toMatchObject({ status: 'failed', ambiguous: true });
    expect(await world.execute(post, issue, true)).toMatchObject({ status: 'ok', repeated: false });
    expect(await comments()).toHaveLength(1);
  });

  test('somebody else copying the marker does not stand for ours', async () => {
    await world.api('POST', `/repos/acme/shop/issues/${issue}/comments`, { body: 'fake <!-- svc:m1 -->' }, ANNA.token);
    expect(await world.execute(post, issue, true)).toMatchObject({ status: 'ok', repeated: false });
  });

  test('updateComment creates, then edits in place, then leaves alone', async () => {
    const update = (body: string) => world.execute({ type: 'updateComment', marker: 'status', body }, issue);
    const first = await update('one');
    const second = await update('two');
    expect(first).toMatchObject({ status: 'ok', repeated: false });
    expect(second).toMatchObject({
      created: (first as { created: { commentId: number } }).created && {
        commentId: (first as { created: { commentId: number } }).created.commentId,
      },
    });
    expect(await update('two')).toMatchObject({ repeated: true });
    expect((await comments()).map((comment) => comment.body)).toEqual(['two\n\n<!-- svc:status -->']);
  });

  test('a text over the host’s limit is cut and keeps its marker', async () => {
    const result = await world.execute({ ...post, body: 'x'.repeat(70_000) }, issue);
    expect(result).toMatchObject({ status: 'ok' });
    expect((await comments())[0]?.body).toMatch(/<!-- svc:m1 -->$/);
  });

  test('a repeated reaction is one reaction', async () => {
    await world.execute(post, issue);
    const [comment] = await comments();
    await world.host.react(REPO, comment?.id ?? 0, 'confused');
    await world.host.react(REPO, comment?.id ?? 0, 'confused');
    const { data } = await world.api('GET', `/repos/acme/shop/issues/comments/${comment?.id}`);
    expect(data).toMatchObject({ reactions: { total_count: 1, confused: 1 } });
  });
});

describe('issues', () => {
  test('closing comments once, even when the answer to the comment was lost', async () => {
    const close = { type: 'closeIssue', reason: 'not_planned', comment: 'Not now' } as const;
    world.sandbox.failNext({ drop: 'after', match: { method: 'POST', path: '/comments' } });
    expect(await world.execute(close, issue)).toMatchObject({ status: 'failed', ambiguous: true });
    // Even a caller that forgot the first attempt makes no second comment.
    expect(await world.execute(close, issue)).toMatchObject({ status: 'ok', repeated: true });
    expect(await comments()).toHaveLength(1);
    expect(await world.host.getIssue(REPO, issue)).toMatchObject({ state: 'closed', stateReason: 'not_planned' });
    expect(await world.execute({ type: 'reopenIssue' }, issue)).toMatchObject({ repeated: false });
    expect(await world.execute({ type: 'reopenIssue' }, issue)).toMatchObject({ repeated: true });
  });

  test('a created issue is found by its marker, linked once and assigned', async () => {
    const create = {
      type: 'createIssue',
      title: 'Part',
      body: 'b',
      labels: ['svc:enqueue'],
      marker: `sub-${issue}`,
    } as const;
    world.sandbox.failNext({ drop: 'after', match: { method: 'POST', path: '/issues' } });
    expect(await world.execute({ ...create, labels: [...create.labels] }, issue)).toMatchObject({
      status: 'failed',
      ambiguous: true,
    });
    const found = await world.execute({ ...create, labels: [...create.labels] }, issue, true);
    const number = (found as { created: { number: number } }).created.number;
    expect(found).toMatchObject({ status: 'ok', repeated: true, created: { number: issue + 1 } });
    const link = { type: 'linkSubIssue', parentIssueNumber: issue, childIssueNumber: number } as const;
    expect(await world.execute(link, issue)).toMatchObject({ status: 'ok', repeated: false });
    expect(await world.execute(link, issue)).toMatchObject({ status: 'ok', repeated: true });
    expect(await world.execute({ type: 'assignIssue', assignees: ['anna'] }, issue)).toMatchObject({ status: 'ok' });
    const { data } = await world.api('GET', `/repos/acme/shop/issues/${issue}`);
    expect(data).toMatchObject({ assignee: { login: 'anna' }, sub_issues_summary: { total: 1 } });
    expect((await world.host.getIssue(REPO, issue))?.assignees).toEqual(['anna']);
  });

  test('who has no right is told so, and rights are asked from the host', async () => {
    expect(await world.host.permissionOf(REPO, 'anna')).toBe('write');
    expect(await world.host.permissionOf(REPO, 'stranger')).toBe('read');
    expect(await world.host.permissionOf(REPO, 'nobody-at-all')).toBe('none');
    const stranger = world.as(STRANGER.token);
    const result = await stranger.execute(
      REPO,
      issue,
      { type: 'addLabels', labels: ['x'] },
      { mayHaveHappened: false },
    );
    expect(result).toMatchObject({ status: 'refused', httpStatus: 403, kind: 'other' });
    expect(await world.host.login()).toBe(BOT.login);
  });

  test('a right is kept for five minutes by the given clock', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const host = world.as(BOT.token, { now: () => new Date(now) });
    const asked = () => world.exchanges.filter((exchange) => exchange.url.includes('/permission')).length;
    const before = asked();
    await host.permissionOf(REPO, 'anna');
    now += 299_000;
    await host.permissionOf(REPO, 'Anna');
    expect(asked() - before).toBe(1);
    now += 1_000;
    await host.permissionOf(REPO, 'anna');
    expect(asked() - before).toBe(2);
  });
});
