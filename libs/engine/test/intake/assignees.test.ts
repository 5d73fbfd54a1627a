import { describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, type HostIssue, type IssueAction } from '@pipeline/domain';
import { applyHostEvent, pollRepo } from '@pipeline/engine';
import { hostFactsOf } from '@pipeline/store';
import { hostIssue } from '../harness.ts';
import { Stage } from '../stage.ts';

const bench = new Stage({ issues: 0 });
const at = (second: number) => `2026-03-01T00:00:0${second}.000Z`;

const assignee = async () => {
  const { id, tenant_id } = await bench.issue();
  return (await hostFactsOf(bench.database.db, tenant_id, id))?.assignee;
};
const deliver = (
  assignees: string[] | undefined,
  second: number,
  action: IssueAction = 'assigned',
  engine = bench.engine,
) => {
  const issue: HostIssue = { ...hostIssue(1, { updatedAt: at(second) }), ...(assignees && { assignees }) };
  const { repo, host } = bench;
  return applyHostEvent({ engine, repo, host }, { kind: 'issue', action, repo, issue, sender: 'alice', label: null });
};

describe('stores the assignee of an issue', () => {
  test('stores the assignee when the issue enters with one', async () => {
    await deliver(['anna', 'ben'], 1, 'opened');
    expect(await assignee()).toBe('anna');
  });

  test('stores the change when people are assigned and unassigned', async () => {
    await deliver(undefined, 1, 'opened');
    expect(await assignee()).toBeNull();
    await deliver(['ben'], 2);
    expect(await assignee()).toBe('ben');
    await deliver([], 3, 'unassigned');
    expect(await assignee()).toBeNull();
  });

  test('stores the assignee of the newest report when a delivery arrives late, twice or without assignees', async () => {
    await deliver([], 1, 'opened');
    await deliver(['anna'], 4);
    await deliver(['ben'], 3);
    expect(await assignee()).toBe('anna');
    await deliver(undefined, 5, 'edited');
    expect(await assignee()).toBe('anna');
    await deliver([], 6, 'unassigned');
    await deliver(['anna'], 4);
    expect(await assignee()).toBeNull();
  });

  test('stores an assignee that only a poll reports', async () => {
    await deliver([], 1, 'opened');
    const issue = hostIssue(1, { updatedAt: at(5), labels: ['svc:analyzing'], assignees: ['ben'] });
    const host = Object.assign(Object.create(bench.host), {
      listIssues: async () => ({ issues: [issue], changedPullRequests: [], etag: null }),
    });
    await pollRepo({ engine: bench.engine, repo: bench.repo, host }, () => new Date(at(6)));
    expect(await assignee()).toBe('ben');
  });

  test('stores the assignee when the issue is done', async () => {
    await deliver([], 1, 'opened');
    await applyHostEvent(bench, {
      kind: 'issue',
      action: 'closed',
      repo: bench.repo,
      sender: 'alice',
      label: null,
      issue: hostIssue(1, { state: 'closed', closedAt: at(2), updatedAt: at(2) }),
    });
    await deliver(['ben'], 3);
    expect([(await bench.issue()).state, await assignee()]).toEqual(['done', 'ben']);
  });
});

test('ignores the identities of the pipeline and its workers', async () => {
  const review = { ...DEFAULT_SETTINGS.review, workerLogins: ['Shop-Worker'] };
  const engine = { ...bench.engine, settings: () => ({ ...DEFAULT_SETTINGS, review }) };
  await deliver(['pipeline-bot', 'shop-worker'], 1, 'opened', engine);
  expect(await assignee()).toBeNull();
  await deliver(['Pipeline-Bot', 'shop-worker', 'anna'], 2, 'assigned', engine);
  expect(await assignee()).toBe('anna');
});
