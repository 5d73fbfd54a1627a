import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ExecuteResult } from '@pipeline/domain';
import {
  ANNA,
  BOT,
  createSandboxEnvironment,
  openIssue,
  REPO,
  type SandboxEnvironment,
  STRANGER,
} from '@pipeline/testing/sandbox';

let environment: SandboxEnvironment;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
});
afterAll(() => environment.end());
let issue: number;
beforeEach(async () => {
  issue = await openIssue(environment);
});
const labels = async () => (await environment.host.getIssue(REPO, issue))?.labels.sort();
const comments = () => environment.host.listComments(REPO, issue);

describe('labels', () => {
  test('adds, removes and swaps labels; an absent one counts as removed', async () => {
    await environment.execute({ type: 'addLabels', labels: ['svc:a', 'svc:b'] }, issue);
    const swap = { type: 'swapLabels', remove: ['svc:a', 'svc:gone'], add: ['svc:c'] } as const;
    expect(await environment.execute({ ...swap, remove: [...swap.remove], add: [...swap.add] }, issue)).toMatchObject({
      status: 'ok',
      repeated: false,
    });
    expect(await labels()).toEqual(['svc:b', 'svc:c']);
    expect(await environment.execute({ type: 'removeLabels', labels: ['svc:a'] }, issue)).toMatchObject({
      status: 'ok',
      repeated: true,
    });
  });

  test('refuses labels of an issue that does not exist', async () => {
    expect(await environment.execute({ type: 'removeLabels', labels: ['x'] }, 999_999)).toMatchObject({
      status: 'refused',
      httpStatus: 404,
    });
  });
});

describe('comments', () => {
  const post = { type: 'postComment', body: 'Hello', marker: 'm1' } as const;

  test('one whose answer was lost is not written again', async () => {
    environment.sandbox.failNext({ drop: 'after', match: { method: 'POST', path: '/comments' } });
    expect(await environment.execute(post, issue)).toMatchObject({ status: 'failed', ambiguous: true });
    expect(await environment.execute(post, issue, true)).toMatchObject({
      status: 'ok',
      repeated: true,
      created: { commentId: expect.any(Number) },
    });
    expect(await comments()).toHaveLength(1);
  });

  test('one whose request never arrived is written by the second attempt', async () => {
    environment.sandbox.failNext({ drop: 'before', match: { method: 'POST', path: '/comments' } });
    expect(await environment.execute(post, issue)).toMatchObject({ status: 'failed', ambiguous: true });
    expect(await environment.execute(post, issue, true)).toMatchObject({ status: 'ok', repeated: false });
    expect(await comments()).toHaveLength(1);
  });

  test('a marker that another account copies does not stand for ours', async () => {
    await environment.api(
      'POST',
      `/repos/acme/shop/issues/${issue}/comments`,
      { body: 'fake <!-- svc:m1 -->' },
      ANNA.token,
    );
    expect(await environment.execute(post, issue, true)).toMatchObject({ status: 'ok', repeated: false });
  });

  const update = (body: string, inDoubt = false) =>
    environment.execute({ type: 'updateComment', marker: 'status', body }, issue, inDoubt);
  const bodies = async () => (await comments()).map(({ body }) => body);

  test('updateComment creates a comment, then edits it in place', async () => {
    const first = await update('one');
    expect(first).toMatchObject({ status: 'ok', repeated: false, created: { commentId: expect.any(Number) } });
    const { created } = first as Extract<ExecuteResult, { status: 'ok' }>;
    expect(await update('two')).toMatchObject({ repeated: false, created: { commentId: created?.commentId } });
    expect(await bodies()).toEqual(['two\n\n<!-- svc:status -->']);
  });

  test('updateComment edits a comment that it has written by one request', async () => {
    await update('one');
    const before = environment.exchanges.length;
    await update('two');
    expect(environment.exchanges.slice(before).map(({ method }) => method)).toEqual(['PATCH']);
  });

  test('updateComment in doubt leaves a comment alone that has the text already', async () => {
    await update('one');
    expect(await update('one', true)).toMatchObject({ status: 'ok', repeated: true });
  });

  test('updateComment finds the comment that an earlier process wrote', async () => {
    await update('one');
    environment.host = environment.as(BOT.token);
    expect(await update('two')).toMatchObject({ status: 'ok', repeated: false });
    expect(await bodies()).toEqual(['two\n\n<!-- svc:status -->']);
  });

  test('updateComment writes a comment again that was deleted', async () => {
    await update('one');
    const [comment] = await comments();
    await environment.api('DELETE', `/repos/acme/shop/issues/comments/${comment?.id}`);
    expect(await update('two')).toMatchObject({ status: 'ok', repeated: false });
    expect(await bodies()).toEqual(['two\n\n<!-- svc:status -->']);
  });

  test('a text over the host’s limit is cut and keeps its marker', async () => {
    const result = await environment.execute({ ...post, body: 'x'.repeat(70_000) }, issue);
    expect(result).toMatchObject({ status: 'ok' });
    expect((await comments())[0]?.body).toMatch(/<!-- svc:m1 -->$/);
  });

  test('a repeated reaction is one reaction', async () => {
    await environment.execute(post, issue);
    const [comment] = await comments();
    await environment.host.react(REPO, comment?.id ?? 0, 'confused');
    await environment.host.react(REPO, comment?.id ?? 0, 'confused');
    const { data } = await environment.api('GET', `/repos/acme/shop/issues/comments/${comment?.id}`);
    expect(data).toMatchObject({ reactions: { total_count: 1, confused: 1 } });
  });
});

describe('issues', () => {
  test('closing comments once, even when the answer to the comment was lost', async () => {
    const close = { type: 'closeIssue', reason: 'not_planned', comment: 'Not now' } as const;
    environment.sandbox.failNext({ drop: 'after', match: { method: 'POST', path: '/comments' } });
    expect(await environment.execute(close, issue)).toMatchObject({ status: 'failed', ambiguous: true });
    // Even a caller that forgot the first attempt makes no second comment.
    expect(await environment.execute(close, issue)).toMatchObject({ status: 'ok', repeated: true });
    expect(await comments()).toHaveLength(1);
    expect(await environment.host.getIssue(REPO, issue)).toMatchObject({ state: 'closed', stateReason: 'not_planned' });
    expect(await environment.execute({ type: 'reopenIssue' }, issue)).toMatchObject({ repeated: false });
    expect(await environment.execute({ type: 'reopenIssue' }, issue)).toMatchObject({ repeated: true });
  });

  test('a created issue is found by its marker, linked once and assigned', async () => {
    const create = {
      type: 'createIssue',
      title: 'Part',
      body: 'b',
      labels: ['svc:enqueue'],
      marker: `sub-${issue}`,
    } as const;
    environment.sandbox.failNext({ drop: 'after', match: { method: 'POST', path: '/issues' } });
    expect(await environment.execute({ ...create, labels: [...create.labels] }, issue)).toMatchObject({
      status: 'failed',
      ambiguous: true,
    });
    const found = await environment.execute({ ...create, labels: [...create.labels] }, issue, true);
    const number = (found as { created: { number: number } }).created.number;
    expect(found).toMatchObject({ status: 'ok', repeated: true, created: { number: issue + 1 } });
    const link = { type: 'linkSubIssue', parentIssueNumber: issue, childIssueNumber: number } as const;
    expect(await environment.execute(link, issue)).toMatchObject({ status: 'ok', repeated: false });
    expect(await environment.execute(link, issue)).toMatchObject({ status: 'ok', repeated: true });
    expect(await environment.execute({ type: 'assignIssue', assignees: ['anna'] }, issue)).toMatchObject({
      status: 'ok',
    });
    const { data } = await environment.api('GET', `/repos/acme/shop/issues/${issue}`);
    expect(data).toMatchObject({ assignee: { login: 'anna' }, sub_issues_summary: { total: 1 } });
    expect((await environment.host.getIssue(REPO, issue))?.assignees).toEqual(['anna']);
  });

  test('reports missing permissions, and reads permissions from the host', async () => {
    expect(await environment.host.permissionOf(REPO, 'anna')).toBe('write');
    expect(await environment.host.permissionOf(REPO, 'stranger')).toBe('read');
    expect(await environment.host.permissionOf(REPO, 'nobody-at-all')).toBe('none');
    const stranger = environment.as(STRANGER.token);
    const result = await stranger.execute(
      REPO,
      issue,
      { type: 'addLabels', labels: ['x'] },
      { mayHaveHappened: false },
    );
    expect(result).toMatchObject({ status: 'refused', httpStatus: 403, kind: 'other' });
    expect(await environment.host.login()).toBe(BOT.login);
  });

  test('a right is kept for five minutes by the given clock, and not used when it is read for an approval', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const host = environment.as(BOT.token, { now: () => new Date(now) });
    const asked = () => environment.exchanges.filter((exchange) => exchange.url.includes('/permission')).length;
    const before = asked();
    await host.permissionOf(REPO, 'anna');
    now += 299_000;
    await host.permissionOf(REPO, 'Anna');
    expect(asked() - before).toBe(1);
    now += 1_000;
    await host.permissionOf(REPO, 'anna');
    expect(asked() - before).toBe(2);
    await host.permissionOf(REPO, 'anna', true);
    expect(asked() - before).toBe(3);
  });
});
