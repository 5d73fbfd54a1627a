import { describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { applyHostEvent, pollRepo } from '@pipeline/engine';
import { findPullRequest } from '@pipeline/store';
import { applyHostIssue, drain, finish, goodOutcome, hostIssue, take, workUntil } from '../harness.ts';
import { reportReview } from '../host-pulls.ts';
import { Stage } from '../stage.ts';

const stage = new Stage();
const OWN = 1_001;

/** Accounts that may not act as a person, and what makes them so. */
const ACCOUNTS: [who: string, login: string, is: () => void][] = [
  ['a person without write permission', 'stranger', () => undefined],
  ['a bot with write permission', 'ci[bot]', () => undefined],
  [
    'the account of a worker',
    'Shop-Worker',
    () => {
      const review = { ...DEFAULT_SETTINGS.review, workerLogins: ['shop-worker'] };
      stage.engine.settings = () => ({ ...DEFAULT_SETTINGS, review });
    },
  ],
  [
    'the account that pushed the branch',
    'Pusher',
    () => {
      stage.host.pushers = ['anna-b', 'pusher'];
    },
  ],
  [
    'the account that created the branch of another issue',
    'Agent-2',
    () => {
      stage.host.branchCreators = ['agent-2'];
    },
  ],
];

let comments = 0;
const say = (author: string, body: string) => {
  comments += 1;
  const createdAt = '2026-03-01T00:01:00.000Z';
  const comment = { id: 9_000 + comments, author, body, createdAt, updatedAt: createdAt };
  const on = { issueNumber: 1, onPullRequest: false, issueAuthor: 'alice' };
  return applyHostEvent(stage, { kind: 'comment', repo: stage.repo, ...on, comment, sender: author });
};
const stateOf = async () => (await stage.issue()).state;

async function toHumanReview(): Promise<void> {
  await workUntil(stage, 'in-review');
  await finish(stage, await take(stage), { outcome: 'needs-human', result: { reason: 'look' } });
  await drain(stage);
}

async function toEnd(): Promise<void> {
  await applyHostIssue(stage, hostIssue(1, { state: 'closed' }), { action: 'closed', sender: 'anna' });
  await drain(stage);
}

describe.each(ACCOUNTS)('%s', (_who, login, becomes) => {
  const begin = () => {
    becomes();
    stage.host.permissionOf = async (_repo, name) => (name === 'stranger' ? 'read' : 'write');
  };

  test('gives no command, and its comment causes no write', async () => {
    begin();
    await say(login, '/svc:cancel');
    await say(login, '/svc:pause');
    expect(await stage.issue()).toMatchObject({ state: 'analyzing', is_paused: false });
    expect(stage.host.reactions).toEqual([]);
  });

  test('approves no pull request, and asks for no changes of it', async () => {
    begin();
    await toHumanReview();
    await reportReview(stage, OWN, { author: login });
    await reportReview(stage, OWN, { author: login, verdict: 'changes_requested' });
    expect(await stateOf()).toBe('human-review-ready');
  });

  test('neither pauses nor resumes an issue by its label, which is put back', async () => {
    begin();
    await drain(stage);
    const labels = ['svc:analyzing', 'svc:paused'];
    await applyHostIssue(stage, hostIssue(1, { labels }), { action: 'labeled', label: 'svc:paused', sender: login });
    expect(await stage.issue()).toMatchObject({ is_paused: false, labels: ['svc:analyzing'] });
    expect((await stage.entries()).at(-1)?.action).toMatchObject({ type: 'swapLabels', remove: ['svc:paused'] });
    await drain(stage);
    const seen = hostIssue(1, { labels, updatedAt: '2026-03-01T00:05:00.000Z' });
    stage.host.log(seen, { action: 'labeled', label: 'svc:paused', actor: login });
    stage.pass(600);
    await applyHostIssue(stage, seen, { action: 'seen', sender: null });
    expect((await stage.issue()).is_paused).toBe(false);
  });

  test('restarts no issue that is done, in a webhook or in a poll', async () => {
    begin();
    await toEnd();
    await applyHostIssue(stage, hostIssue(1), { action: 'reopened', sender: login });
    await applyHostIssue(stage, hostIssue(1), { action: 'labeled', label: 'svc:enqueue', sender: login });
    const seen = await stage.host.getIssue(stage.repo, 1);
    stage.host.listIssues = async () => ({ issues: seen ? [seen] : [], changedPullRequests: [], etag: null });
    stage.pass(600);
    await pollRepo(stage, () => stage.database.clock.now ?? new Date());
    expect(await stateOf()).toBe('done');
    await applyHostIssue(stage, hostIssue(1), { action: 'labeled', label: 'svc:enqueue', sender: 'anna' });
    expect(await stateOf()).toBe('analyzing');
  });
});

describe.each(ACCOUNTS.filter(([, login]) => login !== 'Pusher'))('%s', (_who, login, becomes) => {
  test('enqueues no issue, in a webhook or in a poll, and its label causes no write', async () => {
    becomes();
    stage.host.permissionOf = async (_repo, name) => (name === 'stranger' ? 'read' : 'write');
    const before = (await stage.entries()).length;
    const labeled = { action: 'labeled', label: 'svc:enqueue', sender: login } as const;
    await applyHostIssue(stage, hostIssue(2, { author: 'anna' }), labeled);
    await applyHostIssue(stage, hostIssue(3), { action: 'opened', sender: login });
    const seen = [await stage.host.getIssue(stage.repo, 2), await stage.host.getIssue(stage.repo, 3)];
    const issues = seen.filter((issue) => issue !== null);
    stage.host.listIssues = async () => ({ issues, changedPullRequests: [], etag: null });
    await pollRepo(stage, () => stage.database.clock.now ?? new Date());
    await expect(stage.issue(2)).rejects.toThrow('no issue 2');
    await expect(stage.issue(3)).rejects.toThrow('no issue 3');
    expect((await stage.entries()).length).toBe(before);
  });

  test('enqueues no issue by reopening one that a person enqueued', async () => {
    becomes();
    stage.host.permissionOf = async (_repo, name) => (name === 'stranger' ? 'read' : 'write');
    const closed = hostIssue(2, { state: 'closed' });
    stage.host.log(closed, { action: 'labeled', label: 'svc:enqueue', actor: 'anna' });
    await applyHostIssue(stage, hostIssue(2), { action: 'reopened', sender: login });
    await expect(stage.issue(2)).rejects.toThrow('no issue 2');
  });
});

describe('an approval on the host', () => {
  const asked: [login: string, now: boolean][] = [];
  let permission: 'write' | 'read';
  const approve = async () => {
    asked.length = 0;
    permission = 'write';
    stage.host.permissionOf = async (_repo, login, now = false) => {
      asked.push([login, now]);
      return permission;
    };
    await toHumanReview();
    await reportReview(stage, OWN);
    expect(await stateOf()).toBe('merge-pending');
    await finish(stage, await take(stage), goodOutcome('merge', 1));
  };
  const own = () => findPullRequest(stage.database.db, stage.tenantId, stage.repo.id, OWN);

  test('reads the permission now, and again before the merge', async () => {
    await approve();
    expect(asked).toEqual([['anna', true]]);
    await drain(stage);
    expect(asked).toEqual([
      ['anna', true],
      ['anna', true],
    ]);
    expect(await stateOf()).toBe('done');
  });

  test.each(['lost the permission', 'pushed to the branch'])('holds no more when its author %s', async (what) => {
    await approve();
    if (what === 'pushed to the branch') stage.host.pushers = ['anna'];
    else permission = 'read';
    await drain(stage);
    expect((await stage.transitions()).at(-1)).toBe('merge-pending -> human-review-ready (review-dismissed)');
    expect(await own()).toMatchObject({ approved_sha: null });
    expect(stage.host.executed.map(({ type }) => type)).not.toContain('mergePR');
  });
});
