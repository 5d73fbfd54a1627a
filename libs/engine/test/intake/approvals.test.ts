import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, type Outcome } from '@pipeline/domain';
import { actOnIssue, transitionIssue } from '@pipeline/engine';
import { findPullRequest } from '@pipeline/store';
import { drain, finish, step, take, workUntil } from '../harness.ts';
import { hostPull, reportPull, reportPush, reportReview } from '../host-pulls.ts';
import { OLGA, Stage } from '../stage.ts';

const stage = new Stage();
const OWN = 1_001;
const OLD = 'abc1234';
const NEW = 'def5678';
const APPROVED: Outcome = { outcome: 'approved', result: { body: '' } };
const mergeable = (headSha: string): Outcome => ({ outcome: 'mergeable', result: { headSha } });

const merges = async () => (await stage.entries()).filter(({ action }) => action.type === 'mergePR');
const statuses = async () =>
  (await stage.entries()).flatMap(({ action }) => (action.type === 'setCommitStatus' ? [action.sha] : []));
const last = async () => (await stage.transitions()).at(-1);
const own = () => findPullRequest(stage.database.db, stage.tenantId, stage.repo.id, OWN);

const keepApprovals = () => {
  stage.engine.settings = () => ({
    ...DEFAULT_SETTINGS,
    review: { ...DEFAULT_SETTINGS.review, dismissStale: false },
  });
};

async function toHumanReview(): Promise<void> {
  await workUntil(stage, 'in-review');
  await finish(stage, await take(stage), { outcome: 'needs-human', result: { reason: 'look' } });
  await drain(stage);
}

describe('a push during the review', () => {
  test('withdraws the review task and enqueues one for the new head', async () => {
    await workUntil(stage, 'in-review');
    const review = await take(stage);
    await reportPush(stage, NEW);
    await expect(finish(stage, review, APPROVED)).rejects.toMatchObject({ code: 'TASK_CANCELLED' });
    const again = await take(stage);
    expect(again).toMatchObject({ taskType: 'review', payload: { pr: { headSha: NEW } } });
    await finish(stage, again, APPROVED);
    expect(await statuses()).toEqual([NEW]);
  });

  test('applies a push of the pipeline identity, as workers use it', async () => {
    await workUntil(stage, 'in-review');
    await reportPull(stage, 'synchronize', { headSha: NEW, updatedAt: '2026-03-01T00:01:00.000Z' }, 'pipeline-bot');
    expect((await take(stage)).payload.pr).toMatchObject({ headSha: NEW });
  });

  test('the late delivery of another push of the same second does not revert a push', async () => {
    await workUntil(stage, 'in-review');
    stage.host.pulls.set(OWN, hostPull(stage, { headSha: NEW, updatedAt: '2026-03-01T00:01:00.000Z' }));
    await reportPush(stage, NEW);
    await reportPush(stage, OLD);
    expect(await own()).toMatchObject({ head_sha: NEW });
    expect((await take(stage)).payload.pr).toMatchObject({ headSha: NEW });
  });

  test('applies a push that follows another push of the same second', async () => {
    await workUntil(stage, 'in-review');
    await reportPush(stage, OLD);
    stage.host.pulls.set(OWN, hostPull(stage, { headSha: NEW, updatedAt: '2026-03-01T00:01:00.000Z' }));
    await reportPush(stage, NEW);
    expect((await take(stage)).payload.pr).toMatchObject({ headSha: NEW });
  });

  test('writes neither status nor approval when the issue is retried in failure-blocked', async () => {
    await workUntil(stage, 'in-review');
    await reportPull(stage, 'closed', { state: 'closed' });
    await reportPull(stage, 'reopened', { updatedAt: '2026-03-01T00:00:30.000Z' });
    await actOnIssue(stage.engine, await stage.key(), 'retry', OLGA);
    const review = await take(stage);
    await reportPush(stage, NEW);
    await finish(stage, review, APPROVED);
    expect(await last()).toBe('failure-blocked -> in-review (head-moved)');
    expect(await statuses()).toEqual([]);
    expect((await take(stage)).payload.pr).toMatchObject({ headSha: NEW });
  });

  test('voids a review when the reviewer reports another commit', async () => {
    await workUntil(stage, 'in-review');
    await finish(stage, await take(stage), { outcome: 'approved', result: { body: '', headSha: NEW } });
    expect((await stage.issue()).state).toBe('in-review');
    expect(await statuses()).toEqual([]);
    expect((await take(stage)).taskType).toBe('review');
  });
});

describe('a new base after the approval', () => {
  beforeEach(async () => {
    await workUntil(stage, 'merge-pending');
    await finish(stage, await take(stage), mergeable(OLD));
  });

  test('revokes the approval when the host reports it', async () => {
    await reportPull(stage, 'edited', { baseRef: 'release', updatedAt: '2026-03-01T00:01:00.000Z' });
    expect(await last()).toBe('merge-pending -> human-review-ready (review-dismissed)');
    expect(await own()).toMatchObject({ approved_sha: null });
    expect((await merges()).map(({ status }) => status)).toEqual(['discarded']);
  });

  test('revokes the approval when the base of the approved changes is back', async () => {
    await reportPull(stage, 'edited', { baseRef: 'release', updatedAt: '2026-03-01T00:01:00.000Z' });
    await reportPull(stage, 'edited', { updatedAt: '2026-03-01T00:02:00.000Z' });
    await drain(stage);
    expect((await stage.issue()).state).toBe('human-review-ready');
  });

  test('holds the merge when no report of it arrived', async () => {
    stage.host.pulls.set(OWN, hostPull(stage, { baseRef: 'release' }));
    await drain(stage);
    expect(await last()).toBe('merge-pending -> human-review-ready (review-dismissed)');
    expect(await own()).toMatchObject({ approved_sha: null });
    expect(stage.host.executed.map(({ type }) => type)).not.toContain('mergePR');
  });
});

describe('a push after the approval', () => {
  beforeEach(() => workUntil(stage, 'merge-pending'));

  test('sends the issue back to review and deletes its merge task', async () => {
    const merge = await take(stage);
    await reportPush(stage, NEW);
    expect(await last()).toBe('merge-pending -> in-review (head-moved)');
    await expect(finish(stage, merge, mergeable(NEW))).rejects.toMatchObject({ code: 'TASK_CANCELLED' });
    expect(await merges()).toEqual([]);
  });

  test('withdraws the merge when it is pending in the outbox', async () => {
    await finish(stage, await take(stage), mergeable(OLD));
    await reportPush(stage, NEW);
    expect((await merges()).map(({ status }) => status)).toEqual(['discarded']);
    await drain(stage);
    expect((await stage.issue()).state).toBe('in-review');
  });

  test('the new head is not merged when the merge names it before the push is reported', async () => {
    await finish(stage, await take(stage), mergeable(NEW));
    expect(await merges()).toEqual([]);
    expect(await last()).toBe('merge-pending -> in-review (head-moved)');
  });

  test("returns to review with the host's head when the host refuses the merge", async () => {
    await finish(stage, await take(stage), mergeable(OLD));
    stage.host.nextResults.push({
      status: 'refused',
      httpStatus: 409,
      message: 'moved',
      kind: 'not-ready',
      headSha: NEW,
    });
    await drain(stage);
    expect(await last()).toBe('merge-pending -> in-review (head-moved)');
    expect((await take(stage)).payload.pr).toMatchObject({ headSha: NEW });
  });

  test('the new head is not merged when the issue returns to merge-pending from a block', async () => {
    await reportPull(stage, 'closed', { state: 'closed' });
    await reportPull(stage, 'reopened', { headSha: NEW, updatedAt: '2026-03-01T00:01:00.000Z' });
    await actOnIssue(stage.engine, await stage.key(), 'unblock', OLGA);
    expect((await stage.issue()).state).toBe('merge-pending');
    await finish(stage, await take(stage), mergeable(NEW));
    expect(await last()).toBe('merge-pending -> in-review (head-moved)');
    expect(await merges()).toEqual([]);
  });

  test('changes nothing when the same head is reported again', async () => {
    await reportPush(stage, OLD);
    expect((await stage.issue()).state).toBe('merge-pending');
    await step(stage);
    expect((await merges()).map(({ action }) => action)).toEqual([
      expect.objectContaining({ prNumber: OWN, expectedHeadSha: OLD }),
    ]);
  });
});

describe("a person's approval", () => {
  beforeEach(toHumanReview);

  test('permits the merge of the approved commit', async () => {
    await reportReview(stage, OWN);
    expect(await last()).toBe('human-review-ready -> merge-pending (review-approved)');
    expect(await own()).toMatchObject({ approved_sha: OLD, approved_by: 'anna' });
    await step(stage);
    expect((await stage.issue()).state).toBe('done');
  });

  test('permits no merge when it is of another linked pull request', async () => {
    const other = { number: 5_000, author: 'bob', headRef: 'patch', body: 'Fixes #1', headSha: 'bad0001' };
    await reportPull(stage, 'opened', other, 'bob');
    await reportReview(stage, 5_000, { commitSha: 'bad0001' });
    await reportReview(stage, 5_000, { commitSha: OLD });
    expect((await stage.issue()).state).toBe('human-review-ready');
  });

  test.each([NEW, null])('an approval of commit %s, which is not the head, releases nothing', async (commitSha) => {
    await reportReview(stage, OWN, { commitSha });
    expect((await stage.issue()).state).toBe('human-review-ready');
  });

  test('does not apply to a later push', async () => {
    await reportReview(stage, OWN);
    await reportPush(stage, NEW);
    expect(await last()).toBe('merge-pending -> in-review (head-moved)');
  });

  test('permits no merge when the person has no write permission', async () => {
    stage.host.permission = 'read';
    await reportReview(stage, OWN);
    expect((await stage.issue()).state).toBe('human-review-ready');
  });

  test('the dismissal of its own review alone revokes an approval', async () => {
    await reportReview(stage, OWN, { id: 77_001 });
    await finish(stage, await take(stage), mergeable(OLD));
    await reportReview(stage, OWN, { id: 76_999, verdict: 'dismissed' });
    expect((await stage.issue()).state).toBe('merge-pending');
    await reportReview(stage, OWN, { id: 77_001, verdict: 'dismissed' });
    expect(await last()).toBe('merge-pending -> human-review-ready (review-dismissed)');
    expect((await merges()).map(({ status }) => status)).toEqual(['discarded']);
    expect(await own()).toMatchObject({ approved_sha: null });
  });

  test('an approval has no effect when its dismissal arrives first', async () => {
    await reportReview(stage, OWN, { id: 77_002, verdict: 'dismissed' });
    await reportReview(stage, OWN, { id: 77_002 });
    expect((await stage.issue()).state).toBe('human-review-ready');
  });

  test('a request for changes by a person with write permission revokes the approval in a block', async () => {
    await reportReview(stage, OWN);
    await reportPull(stage, 'closed', { state: 'closed' });
    await reportPull(stage, 'reopened', { updatedAt: '2026-03-01T00:00:30.000Z' });
    await reportReview(stage, OWN, { verdict: 'changes_requested' });
    await actOnIssue(stage.engine, await stage.key(), 'unblock', OLGA);
    await finish(stage, await take(stage), mergeable(OLD));
    expect(await merges()).toEqual([]);
    expect((await stage.issue()).state).toBe('in-review');
  });

  test('an approval has no effect when the head moved before it', async () => {
    await reportPush(stage, NEW);
    expect(await last()).toBe('human-review-ready -> in-review (head-moved)');
  });
});

describe('with review.dismissStale off', () => {
  beforeEach(async () => {
    await toHumanReview();
    keepApprovals();
  });

  test("a person's approval survives a later push, and the merge names the head that was seen last", async () => {
    await reportReview(stage, OWN);
    await finish(stage, await take(stage), mergeable(OLD));
    await reportPush(stage, NEW);
    expect((await stage.issue()).state).toBe('merge-pending');
    expect((await merges()).map(({ status }) => status)).toEqual(['discarded']);
    await finish(stage, await take(stage), mergeable(NEW));
    expect((await merges()).at(-1)?.action).toMatchObject({ expectedHeadSha: NEW });
  });

  test("a person's approval of an earlier commit counts", async () => {
    await reportReview(stage, OWN, { commitSha: NEW });
    expect((await stage.issue()).state).toBe('merge-pending');
  });

  test("the pipeline's own review does not survive a push", async () => {
    await reportPush(stage, NEW);
    await finish(stage, await take(stage), APPROVED);
    expect((await stage.issue()).state).toBe('merge-pending');
    await reportPush(stage, 'fed9999', { updatedAt: '2026-03-01T00:03:00.000Z' });
    expect(await last()).toBe('merge-pending -> in-review (head-moved)');
  });
});

describe('an operator who moves the issue to merge-pending', () => {
  test('approves the current head and no later one', async () => {
    await toHumanReview();
    await transitionIssue(stage.engine, await stage.key(), 'merge-pending', OLGA);
    expect(await own()).toMatchObject({ approved_sha: OLD, approved_by: 'olga' });
    await finish(stage, await take(stage), mergeable(NEW));
    expect(await last()).toBe('merge-pending -> in-review (head-moved)');
  });
});

describe('a submission', () => {
  test('keeps the head when the host reported it after the claim', async () => {
    await workUntil(stage, 'in-review');
    await finish(stage, await take(stage), { outcome: 'changes-requested', result: { body: 'no', comments: [] } });
    const develop = await take(stage);
    await reportPush(stage, NEW);
    const result = { branch: 'svc/issue-1', headSha: 'fed9999', title: 't', body: '', changedFiles: [] };
    await finish(stage, develop, { outcome: 'submitted', result });
    expect((await take(stage)).payload.pr).toMatchObject({ headSha: NEW });
  });
});

describe('a review with the account of the pipeline', () => {
  const SELF = 'pipeline-bot';

  test('counts as that of the person who uses the account, unless it ends with a marker', async () => {
    stage.host.isPerson = async () => true;
    await toHumanReview();
    await reportReview(stage, OWN, { author: SELF, body: 'Good.\n\n<!-- svc:review-1 -->' });
    expect((await stage.issue()).state).toBe('human-review-ready');
    await reportReview(stage, OWN, { author: SELF, body: '> <!-- svc:review-1 -->\nGood.' });
    expect(await last()).toBe('human-review-ready -> merge-pending (review-approved)');
  });

  test('counts for nothing when the account is an app', async () => {
    await toHumanReview();
    await reportReview(stage, OWN, { author: SELF });
    expect((await stage.issue()).state).toBe('human-review-ready');
  });
});

describe('the status of the review', () => {
  const states = async () =>
    (await stage.entries()).flatMap(({ action }) =>
      action.type === 'setCommitStatus' ? [[action.context, action.sha, action.state]] : [],
    );

  test('turns green when a person approves, and red when the approval is revoked', async () => {
    await toHumanReview();
    await reportReview(stage, OWN, { id: 77 });
    expect(await states()).toEqual([['svc/review', OLD, 'success']]);
    await reportReview(stage, OWN, { id: 77, verdict: 'dismissed' });
    expect((await states()).at(-1)).toEqual(['svc/review', OLD, 'failure']);
  });

  test('turns green for a later head when the approval of a person outlives pushes', async () => {
    keepApprovals();
    await toHumanReview();
    await reportReview(stage, OWN);
    await reportPush(stage, NEW);
    expect((await stage.issue()).state).toBe('merge-pending');
    expect((await states()).at(-1)).toEqual(['svc/review', NEW, 'success']);
  });
});
