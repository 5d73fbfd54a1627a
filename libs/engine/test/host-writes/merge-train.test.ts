/** The order of merges in a repo with `mergeTrain: serial`, on a host in memory. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { HostCheck } from '@pipeline/domain';
import { actOnIssue, applyHostEvent, beginSending, explainIssueAt, passMergeGate, sendable } from '@pipeline/engine';
import { drain, finish, goodOutcome, take } from '../harness.ts';
import { updateRepo } from '../repo-columns.ts';
import { OLGA, Stage } from '../stage.ts';

const ISSUES = [1, 2, 3];
const bench = new Stage({ issues: ISSUES.length });
const HEAD = 'abc1234';
const check = (state: HostCheck['state']): HostCheck => ({
  kind: 'check-run',
  name: 'build',
  state,
  conclusion: state,
  url: null,
  hostId: 1,
  at: '2026-03-01T00:00:00Z',
});
const poll = async () => {
  bench.pass(31);
  await drain(bench);
};
const states = () => Promise.all(ISSUES.map(async (number) => (await bench.issue(number)).state));
const merged = () => bench.host.executed.filter(({ type }) => type === 'mergePR').map(({ issueNumber }) => issueNumber);
const why = (number: number) => {
  const { owner, name } = bench.repo;
  return explainIssueAt(bench.engine, { owner, repo: name, number });
};
const pullOf = async (number: number) => {
  const { id } = await bench.issue(number);
  const rows = bench.database.db.selectFrom('pull_requests').select('number').where('issue_id', '=', id);
  return (await rows.executeTakeFirstOrThrow()).number;
};

/** Completes all tasks; their merges are in the outbox, in the order of the issues. */
async function workAll(): Promise<void> {
  for (let tasks = 5 * ISSUES.length; tasks > 0; tasks -= 1) {
    const task = await take(bench);
    await finish(bench, task, goodOutcome(task.taskType, task.issueNumber ?? 0));
    if (task.taskType === 'develop') await drain(bench);
  }
}

beforeEach(async () => {
  await updateRepo(bench, { checks_policy: 'required', merge_train: 'serial' });
  bench.host.checks = [check('pending')];
  await workAll();
});

/** A drain sends the outbox of every tenant. */
afterEach(async () => {
  const rest = bench.database.db.updateTable('projections').set({ status: 'discarded' });
  await rest.where('tenant_id', '=', bench.tenantId).execute();
});

describe('a merge train', () => {
  test('merges in the order in which the merges were ready, and each at once after the one before', async () => {
    await drain(bench);
    expect(merged()).toEqual([]);
    bench.host.checks = [check('success')];
    await poll();
    expect(merged()).toEqual(ISSUES);
    expect(await states()).toEqual(['done', 'done', 'done']);
  });

  test('names the front to those that wait, and sends no request for them', async () => {
    await drain(bench);
    const front = await pullOf(1);
    expect(await why(1)).toMatchObject({ waitingOn: [{ kind: 'ci' }] });
    expect(await why(2)).toMatchObject({
      explanation: expect.stringContaining(`waits for #${front}, which merges first`),
      waitingOn: [{ kind: 'merge', ref: `#${front}` }],
      recommendations: [expect.stringContaining(`Pause the issue of #${front}`)],
    });
    const comment = (await bench.issue(2)).status_comment_body;
    const reads: string[] = [];
    const refuse = (name: string) => async () => {
      reads.push(name);
      throw new Error(`${name} was read`);
    };
    const host = { ...bench.host, checksOf: refuse('checks'), mergeRulesOf: refuse('rules'), isBehind: refuse('base') };
    bench.pass(31);
    const [first, ...others] = await sendable(bench.engine, 'sandbox', 100);
    expect(others).toHaveLength(2);
    for (const { id } of others) {
      const sending = await beginSending(bench.engine, bench.tenantId, id);
      expect(sending && (await passMergeGate(bench.engine, sending, host as never))).toBeNull();
    }
    expect(reads).toEqual([]);
    expect(first?.issue_number).toBe(1);
    expect((await bench.issue(2)).status_comment_body).toBe(comment);
  });

  test('lets one merge through when all are sent at the same moment', async () => {
    await drain(bench);
    await bench.database.db.updateTable('repos').set({ train_pr: null }).where('id', '=', bench.repo.id).execute();
    bench.host.checks = [check('success')];
    bench.pass(31);
    const begun = await Promise.all(
      (await sendable(bench.engine, 'sandbox', 100))
        .filter(({ action }) => action.type === 'mergePR')
        .map(({ id }) => beginSending(bench.engine, bench.tenantId, id)),
    );
    const passed = await Promise.all(
      begun.map((sending) => sending && passMergeGate(bench.engine, sending, bench.host)),
    );
    expect(begun).toHaveLength(3);
    expect(passed.filter((action) => action !== null)).toHaveLength(1);
  });

  test('merges all at once when it is off', async () => {
    await updateRepo(bench, { merge_train: 'off' });
    bench.host.checks = [check('success')];
    bench.host.behind.add(HEAD);
    await drain(bench);
    expect(merged()).toEqual(ISSUES);
  });
});

describe('a front', () => {
  beforeEach(() => drain(bench));

  test('leaves when it is paused, and merges after it is resumed', async () => {
    await actOnIssue(bench.engine, await bench.key(1), 'pause', OLGA);
    await drain(bench);
    expect((await why(1)).explanation).toContain('a person to resume it');
    expect((await why(2)).waitingOn).toMatchObject([{ kind: 'ci' }]);
    expect((await why(3)).explanation).toContain(`#${await pullOf(2)}, which merges first`);
    bench.host.checks = [check('success')];
    await poll();
    expect(merged()).toEqual([2, 3]);
    await actOnIssue(bench.engine, await bench.key(1), 'resume', OLGA);
    await drain(bench);
    expect(merged()).toEqual([2, 3, 1]);
  });

  test('leaves when its checks do not end, and the time of the next one begins then', async () => {
    const minutes = bench.engine.settings().checks.timeoutMinutes;
    bench.pass(minutes * 60);
    await drain(bench);
    expect(await states()).toEqual(['failure-blocked', 'merge-pending', 'merge-pending']);
    bench.pass((minutes - 1) * 60);
    await drain(bench);
    bench.host.checks = [check('success')];
    await poll();
    expect(merged()).toEqual([2, 3]);
  });

  test('leaves when its checks are red', async () => {
    bench.host.checks = [check('failure')];
    bench.pass(31);
    const [first] = await sendable(bench.engine, 'sandbox', 100);
    await bench.send(first?.id ?? 0);
    expect(await states()).toEqual(['changes-requested', 'merge-pending', 'merge-pending']);
    bench.host.checks = [check('success')];
    await drain(bench);
    expect(merged()).toEqual([2, 3]);
  });

  test('leaves when its pull request is closed', async () => {
    const number = await pullOf(1);
    const pullRequest = {
      number,
      title: '',
      body: '',
      url: '',
      state: 'closed' as const,
      merged: false,
      mergedAt: null,
      mergeCommitSha: null,
      headRepo: null,
      headRef: 'svc/issue-1',
      headSha: HEAD,
      baseRef: 'main',
      author: 'pipeline-bot',
      draft: false,
      createdAt: '2026-03-01T00:00:00Z',
      updatedAt: '2026-03-02T00:00:00Z',
    };
    const event = { kind: 'pull-request', action: 'closed', repo: bench.repo, pullRequest, sender: 'ben' } as const;
    await applyHostEvent(bench, event);
    bench.host.checks = [check('success')];
    await drain(bench);
    expect(merged()).toEqual([2, 3]);
  });

  test('lets others go first while its merge waits for the retry of a failed attempt', async () => {
    bench.host.checks = [check('success')];
    bench.host.nextResults.push({ status: 'failed', message: 'down', ambiguous: false });
    await poll();
    expect(merged()).toEqual([2, 3]);
  });

  test('keeps its place while the result of its merge is in doubt', async () => {
    bench.host.checks = [check('success')];
    bench.host.nextResults.push({ status: 'failed', message: 'no answer', ambiguous: true });
    await poll();
    expect(merged()).toEqual([]);
    bench.pass(60);
    await drain(bench);
    expect(merged()).toEqual(ISSUES);
  });
});
