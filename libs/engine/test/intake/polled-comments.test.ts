import { beforeEach, describe, expect, test } from '@jest/globals';
import type { HostComment, HostIssue } from '@pipeline/domain';
import { pollRepo } from '@pipeline/engine';
import { applyHostIssue, drain, hostIssue, workUntil } from '../harness.ts';
import { hostPull } from '../host-pulls.ts';
import { Stage } from '../stage.ts';

const stage = new Stage();
const at = (seconds: number) => new Date(Date.parse('2026-03-01T00:10:00Z') + seconds * 1_000).toISOString();
const seen = (seconds: number) => hostIssue(1, { labels: ['svc:analyzing'], updatedAt: at(seconds) });
const pause: HostComment = { id: 900_001, author: 'alice', body: '/svc:pause', createdAt: at(60), updatedAt: at(60) };

let shown: HostIssue;
let comments: HostComment[];
let requests: number;

const poll = () => {
  stage.pass(1);
  return pollRepo(stage, () => new Date(at(0)));
};
const isPaused = async () => (await stage.issue()).is_paused;

/** An issue that polls have read twice, without a comment. */
beforeEach(async () => {
  shown = seen(0);
  comments = [];
  requests = 0;
  stage.host.listIssues = async (_repo, { since = '', etag }) => {
    const current = `"${shown.updatedAt} ${comments.length}"`;
    const issues = shown.updatedAt >= since ? [shown] : [];
    return etag === current ? null : { issues, changedPullRequests: [], etag: current };
  };
  stage.host.listComments = async (_repo, _number, since = '') => {
    requests += 1;
    return comments.filter(({ updatedAt }) => updatedAt >= since);
  };
  await drain(stage);
  for (let polls = 0; polls < 3; polls += 1) await poll();
  requests = 0;
});

describe('a comment is found by a poll', () => {
  test('finds the comment when its webhook is lost', async () => {
    shown = seen(60);
    comments = [pause];
    await poll();
    expect(await isPaused()).toBe(true);
  });

  test('finds the comment when the host failed once to list the comments', async () => {
    const { listComments } = stage.host;
    shown = seen(60);
    comments = [pause];
    stage.host.listComments = async () => Promise.reject(new Error('502'));
    await expect(poll()).rejects.toThrow('502');
    stage.host.listComments = listComments;
    await poll();
    expect(await isPaused()).toBe(true);
  });

  test('finds the comment when its webhook is lost and that of a later label is not', async () => {
    comments = [pause];
    shown = { ...seen(65), labels: ['svc:analyzing', 'bug'] };
    await applyHostIssue(stage, shown, { action: 'labeled', label: 'bug' });
    await poll();
    expect(await isPaused()).toBe(true);
  });

  test('finds a comment that was written in the second in which an earlier poll read the issue', async () => {
    shown = seen(60);
    await poll();
    comments = [pause];
    await poll();
    expect(await isPaused()).toBe(true);
  });
});

test('polls request the comments of a changed issue twice, and none of an unchanged repo', async () => {
  await poll();
  expect(requests).toBe(0);
  shown = seen(60);
  for (let polls = 0; polls < 5; polls += 1) await poll();
  expect(requests).toBe(2);
});

test('a command on the pull request of an issue is found by a poll, and none on the one of a person', async () => {
  await workUntil(stage, 'in-review');
  await drain(stage);
  const own = hostPull(stage);
  const people = hostPull(stage, {
    number: 5_000,
    author: 'mallory',
    headRef: 'svc/issue-1',
    headRepo: 'mallory/shop',
  });
  for (const pull of [own, people]) stage.host.pulls.set(pull.number, pull);
  const listed: number[] = [];
  stage.host.listComments = async (_repo, about) => {
    listed.push(about);
    return [pause];
  };
  const pollPull = (changed: number) => {
    stage.host.listIssues = async () => ({
      issues: [],
      changedPullRequests: [{ number: changed, updatedAt: at(60) }],
      etag: null,
    });
    return poll();
  };
  await pollPull(people.number);
  expect([listed, await isPaused()]).toEqual([[], false]);
  await pollPull(own.number);
  expect([listed, await isPaused()]).toEqual([[own.number], true]);
});
