import { describe, expect, test } from '@jest/globals';
import { actOnIssue } from '@pipeline/engine';
import { drain, step, take, workUntil } from '../harness.ts';
import { reportPull } from '../host-pulls.ts';
import { OLGA, Stage } from '../stage.ts';

const stage = new Stage();

const byHand = { number: 5_000, body: 'Fixes #1', headRef: 'by-hand', headSha: 'fff0000', author: 'alice' };

describe('an issue with several pull requests', () => {
  test('uses its own for review and merge, whatever others people open', async () => {
    await workUntil(stage, 'ready-for-dev');
    await reportPull(stage, 'opened', byHand);
    await step(stage);
    expect((await take(stage)).payload.pr).toMatchObject({ headRef: 'svc/issue-1', headSha: 'abc1234' });
    const recorded = await stage.database.db
      .selectFrom('pull_requests')
      .select('head_sha')
      .where('tenant_id', '=', stage.tenantId)
      .where('number', '=', 5_000)
      .executeTakeFirst();
    expect(recorded?.head_sha).toBe('fff0000');
  });

  test('opens a new one when a push from before the restart arrives late', async () => {
    await workUntil(stage, 'in-review');
    await actOnIssue(stage.engine, await stage.key(), 'reimplement', OLGA);
    await reportPull(stage, 'synchronize', { headSha: 'def5678' }, 'pipeline-bot');
    await drain(stage);
    await step(stage);
    const opened = stage.host.executed.filter(({ type }) => type === 'createPR');
    expect(opened).toHaveLength(2);
  });

  test('continues when another than its own is closed', async () => {
    await workUntil(stage, 'in-review');
    await reportPull(stage, 'opened', byHand);
    await reportPull(stage, 'closed', { ...byHand, state: 'closed' });
    expect((await stage.issue()).state).toBe('in-review');
  });
});
