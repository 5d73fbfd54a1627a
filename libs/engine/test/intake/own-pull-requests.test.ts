import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { pollRepo } from '@pipeline/engine';
import { findPullRequest } from '@pipeline/store';
import { applyHostIssue, drain, finish, hostIssue, say, step, take, workUntil } from '../harness.ts';
import { hostPull, reportPull, reportReview } from '../host-pulls.ts';
import { Stage } from '../stage.ts';

const stage = new Stage();
const STRANGER = 5_000;
const FORK = { number: STRANGER, headRepo: 'mallory/shop', author: 'mallory', headSha: 'bad0001' };
const ofFork = () => findPullRequest(stage.database.db, stage.tenantId, stage.repo.id, STRANGER);
const writes = async () => (await stage.entries()).map(({ action }) => action);

describe('a pull request from a fork with the name of a work branch', () => {
  test.each(['in-review', 'merge-pending', 'human-review-ready'])(
    'does not link the pull request while the issue is in %s',
    async (state) => {
      await workUntil(stage, state === 'human-review-ready' ? 'in-review' : state);
      if (state === 'human-review-ready') {
        await finish(stage, await take(stage), { outcome: 'needs-human', result: { reason: 'look' } });
      }
      await reportPull(stage, 'opened', FORK, 'mallory');
      expect((await ofFork())?.issue_id ?? null).toBeNull();
      await reportReview(stage, STRANGER, { commitSha: 'bad0001' });
      await reportPull(stage, 'closed', { ...FORK, state: 'closed' }, 'mallory');
      expect((await stage.issue()).state).toBe(state);
    },
  );

  test('the pull request is never reviewed, given a status or merged', async () => {
    await workUntil(stage, 'ready-for-dev');
    await reportPull(stage, 'opened', FORK, 'mallory');
    await step(stage);
    const review = await take(stage);
    expect(review.payload.pr).toMatchObject({ number: 1_001, headSha: 'abc1234' });
    await finish(stage, review, { outcome: 'approved', result: { body: '' } });
    await drain(stage);
    await step(stage);
    const about = (await writes()).filter((action) => 'prNumber' in action || 'sha' in action);
    expect(about).toHaveLength(3);
    expect(JSON.stringify(about)).not.toMatch(/bad0001|5000/);
    expect((await stage.issue()).state).toBe('done');
  });

  test('does not link the pull request when a poll reads it', async () => {
    await workUntil(stage, 'in-review');
    stage.host.pulls.set(STRANGER, hostPull(stage, FORK));
    const changed = { number: STRANGER, updatedAt: '2026-03-01T00:01:00.000Z' };
    stage.host.listIssues = async () => ({ issues: [], changedPullRequests: [changed], etag: null });
    for (let i = 0; i < 2; i += 1) await pollRepo(stage, () => new Date('2026-03-01T00:01:00Z'));
    expect((await ofFork())?.issue_id ?? null).toBeNull();
  });
});

describe('a pull request that is merged into another base than the default branch', () => {
  const merged = { state: 'closed', merged: true, mergedAt: '2026-03-01T00:02:00.000Z', baseRef: 'release' } as const;

  test('does not move the issue when a person opened it', async () => {
    await workUntil(stage, 'in-review');
    const linked = { number: STRANGER, author: 'anna', headRef: 'mine', body: 'Closes #1' };
    await reportPull(stage, 'merged', { ...linked, ...merged }, 'anna');
    expect(await ofFork()).toMatchObject({ merged: true, issue_id: (await stage.issue()).id });
    expect((await stage.issue()).state).toBe('in-review');
  });

  test('blocks the issue when the pipeline opened it', async () => {
    await workUntil(stage, 'in-review');
    await reportPull(stage, 'merged', { ...merged, updatedAt: '2026-03-01T00:02:00.000Z' });
    expect(await stage.issue()).toMatchObject({
      state: 'failure-blocked',
      last_error: 'Pull request #1001 was merged into release, which is not the default branch.',
    });
  });

  test('cancels the issue when the host closes it afterwards', async () => {
    await workUntil(stage, 'in-review');
    stage.host.pulls.set(1_001, hostPull(stage, merged));
    await applyHostIssue(stage, hostIssue(1, { state: 'closed' }), { action: 'closed' });
    expect((await stage.transitions()).at(-1)).toMatch(/-> done \(host-closed\)$/);
  });
});

describe('a pull request on a branch of the repository that the pipeline did not open', () => {
  const person = { number: STRANGER, author: 'anna', headSha: 'bad0001' };

  test('does not link the pull request by its branch', async () => {
    await workUntil(stage, 'in-review');
    await reportPull(stage, 'opened', person, 'anna');
    expect((await ofFork())?.issue_id ?? null).toBeNull();
    expect((await take(stage)).payload.pr).toMatchObject({ number: 1_001 });
  });

  test('links the pull request by its branch when its author is configured as a worker identity, in any letter case', async () => {
    stage.engine.settings = () => ({
      ...DEFAULT_SETTINGS,
      review: { ...DEFAULT_SETTINGS.review, workerLogins: ['Shop-Worker[bot]'] },
    });
    await workUntil(stage, 'ready-for-dev');
    await reportPull(stage, 'opened', { author: 'shop-worker[bot]', headRepo: `${stage.repo.owner}/SHOP` });
    await step(stage);
    expect((await writes()).filter(({ type }) => type === 'createPR')).toEqual([]);
    expect((await take(stage)).payload.pr).toMatchObject({ number: 1_001 });
  });
});

describe('a pull request of another author that closes the issue by a keyword', () => {
  const fixes = { ...FORK, headRef: 'patch-1', body: 'Fixes #1' };
  beforeEach(() => workUntil(stage, 'in-review'));

  test('records the pull request, but neither reviews nor merges it', async () => {
    await reportPull(stage, 'opened', fixes, 'mallory');
    expect(await ofFork()).toMatchObject({ issue_id: (await stage.issue()).id, agent_authored: false });
    await reportPull(stage, 'closed', { state: 'closed' });
    expect((await stage.issue()).state).toBe('failure-blocked');
  });

  test('moves no issue when it is opened, pushed to, reviewed, commented on or closed', async () => {
    await reportPull(stage, 'opened', fixes, 'mallory');
    await reportPull(stage, 'synchronize', { ...fixes, headSha: 'bad0002' }, 'mallory');
    await reportReview(stage, STRANGER, { verdict: 'changes_requested' });
    await reportPull(stage, 'closed', { ...fixes, state: 'closed' }, 'mallory');
    expect((await stage.issue()).state).toBe('in-review');
    expect((await stage.transitions()).at(-1)).toBe('ready-for-dev -> in-review (submitted)');
  });

  test('ends the issue when a maintainer merges it', async () => {
    await reportPull(stage, 'opened', fixes, 'mallory');
    await reportPull(stage, 'merged', { ...fixes, state: 'closed', merged: true, mergeCommitSha: 'cafe123' }, 'anna');
    expect((await stage.transitions()).at(-1)).toBe('in-review -> done (host-merged)');
  });

  test('does not let its author answer a question of the issue', async () => {
    const issue = hostIssue(2);
    await applyHostIssue(stage, issue);
    await finish(stage, await take(stage, ['analyze']), {
      outcome: 'needs-clarification',
      result: { question: 'Which one?' },
    });
    await reportPull(stage, 'opened', { ...fixes, body: 'Fixes #2' }, 'mallory');
    stage.host.permission = 'read';
    await say(stage, STRANGER, 'Mine.', { author: 'mallory', onPullRequest: true, issueAuthor: 'mallory' });
    expect((await stage.issue(2)).state).toBe('needs-clarification');
  });
});
