import { describe, expect, test } from '@jest/globals';
import type { HostPullRequest } from '@pipeline/domain';
import { takeHostEvent } from '@pipeline/engine';
import { step, take, workUntil } from '../harness.ts';
import { Stage } from '../stage.ts';

const stage = new Stage();

const pull = (over: Partial<HostPullRequest>): HostPullRequest => ({
  number: 5_000,
  title: 'By hand',
  body: 'Fixes #1',
  url: 'http://host/5000',
  state: 'open',
  merged: false,
  mergedAt: null,
  mergeCommitSha: null,
  headRef: 'by-hand',
  headSha: 'fff0000',
  baseRef: 'main',
  author: 'alice',
  draft: false,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  ...over,
});
const tellPull = (action: 'opened' | 'closed', pullRequest: HostPullRequest) =>
  takeHostEvent(stage, { kind: 'pull-request', action, repo: stage.repo, pullRequest, sender: 'alice' });

describe('an issue with several pull requests', () => {
  test('is reviewed and merged by its own, whatever people open beside it', async () => {
    await workUntil(stage, 'ready-for-dev');
    await tellPull('opened', pull({}));
    await step(stage);
    expect((await take(stage)).payload.pr).toMatchObject({ headRef: 'svc/issue-1', headSha: 'abc1234' });
    const byHand = await stage.database.db
      .selectFrom('pull_requests')
      .select('head_sha')
      .where('tenant_id', '=', stage.tenantId)
      .where('number', '=', 5_000)
      .executeTakeFirst();
    expect(byHand?.head_sha).toBe('fff0000');
  });

  test('goes on when another than its own is closed', async () => {
    await workUntil(stage, 'in-review');
    await tellPull('opened', pull({}));
    await tellPull('closed', pull({ state: 'closed' }));
    expect((await stage.issue()).state).toBe('in-review');
  });
});
