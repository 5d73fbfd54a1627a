import { describe, expect, test } from '@jest/globals';
import { actOnIssue, applyHostEvent, pollRepo } from '@pipeline/engine';
import { applyHostIssue, drain, finish, hostIssue, say, take } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const stage = new Stage();

describe('an action of a person on the host', () => {
  test('while our own writes are in flight is found by the next poll', async () => {
    const closed = hostIssue(1, { state: 'closed', updatedAt: '2026-03-01T00:00:10Z' });
    let seen = [hostIssue(1)];
    stage.host.listIssues = async () => ({ issues: seen, changedPullRequests: [], etag: null });
    const poll = () => pollRepo(stage, () => stage.database.clock.now ?? new Date());
    await poll();
    seen = [closed];
    stage.pass(20);
    await poll();
    expect((await stage.issue()).state).toBe('analyzing');
    await drain(stage);
    stage.pass(20);
    await poll();
    expect((await stage.issue()).state).toBe('done');
  });

  test('the second poll finds an action that was made before the first poll while a webhook was lost', async () => {
    const closed = hostIssue(1, { state: 'closed', updatedAt: '2026-03-01T00:00:10Z' });
    stage.host.listIssues = async (_repo, { since }) => {
      const issues = since !== undefined && Date.parse(since) <= Date.parse(closed.updatedAt) ? [closed] : [];
      return { issues, changedPullRequests: [], etag: null };
    };
    await drain(stage);
    stage.pass(3_600);
    for (let polls = 0; polls < 2; polls += 1) await pollRepo(stage, () => stage.database.clock.now ?? new Date());
    expect((await stage.issue()).state).toBe('done');
  });

  test('the second poll finds an action that was made before the first poll on an issue that is done since', async () => {
    const labels = ['svc:done', 'svc:paused'];
    const paused = hostIssue(1, { state: 'closed', labels, updatedAt: '2026-03-01T00:00:10Z' });
    stage.host.listIssues = async (_repo, { since }) => {
      const issues = since !== undefined && Date.parse(since) <= Date.parse(paused.updatedAt) ? [paused] : [];
      return { issues, changedPullRequests: [], etag: null };
    };
    await actOnIssue(stage.engine, await stage.key(), 'cancel', OLGA);
    await drain(stage);
    stage.pass(3_600);
    for (let polls = 0; polls < 2; polls += 1) await pollRepo(stage, () => stage.database.clock.now ?? new Date());
    expect((await stage.entries()).at(-1)?.action).toMatchObject({ type: 'swapLabels', remove: ['svc:paused'] });
  });

  test('restarts and reopens a finished, closed issue when it is svc:enqueue', async () => {
    await actOnIssue(stage.engine, await stage.key(), 'cancel', OLGA);
    await drain(stage);
    await applyHostIssue(stage, hostIssue(1, { state: 'closed' }), { action: 'labeled', label: 'svc:enqueue' });
    await drain(stage);
    expect((await stage.issue()).state).toBe('analyzing');
    expect(stage.host.executed.map(({ type }) => type)).toContain('reopenIssue');
  });

  test('does not answer a later question', async () => {
    await finish(stage, await take(stage), {
      outcome: 'needs-clarification',
      result: { question: 'Which one?' },
    });
    const comment = {
      id: 4_711,
      author: 'alice',
      body: 'Thanks!',
      createdAt: '2026-02-28T00:00:00Z',
      updatedAt: '2026-02-28T00:00:00Z',
    };
    const about = { repo: stage.repo, issueNumber: 1, onPullRequest: false, issueAuthor: 'alice' };
    await applyHostEvent(stage, { kind: 'comment', ...about, comment, sender: 'alice' });
    expect((await stage.issue()).state).toBe('needs-clarification');
    await say(stage, 1, 'The first one.');
    expect((await stage.issue()).state).toBe('analyzing');
  });
});

test('svc:paused is removed from a finished issue', async () => {
  await actOnIssue(stage.engine, await stage.key(), 'cancel', OLGA);
  await drain(stage);
  const before = stage.host.executed.length;
  await applyHostIssue(stage, hostIssue(1, { state: 'closed' }), { action: 'labeled', label: 'svc:paused' });
  await drain(stage);
  expect(stage.host.executed.slice(before).map(({ type }) => type)).toEqual(['swapLabels']);
  expect((await stage.issue()).labels).toEqual(['svc:done']);
});
