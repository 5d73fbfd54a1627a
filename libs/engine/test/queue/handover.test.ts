import { expect, test } from '@jest/globals';
import { heartbeat, registerWorker, transitionIssue } from '@pipeline/engine';
import { take, WORKER } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage();

test('notifies workers of the task that waited when the worker of a withdrawn one learns that it must stop', async () => {
  const { id: taskId, claimToken } = await take(bench);
  await transitionIssue(bench.engine, await bench.key(), 'planning', OLGA);
  await expect(take(bench)).rejects.toThrow('nothing to claim');
  bench.bells.length = 0;
  const beat = { tenantId: bench.tenantId, workerId: bench.workerId, status: 'busy' as const };
  const answer = await heartbeat(bench.engine, { ...beat, tasks: [{ taskId, claimToken }] });
  expect(answer.cancelTaskIds).toEqual([taskId]);
  expect(bench.bells).toContain('svc_tasks');
  expect(await take(bench)).toMatchObject({ taskType: 'plan' });
});

test('refuses the heartbeat of a worker that another token has registered', async () => {
  const [own, other] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
  const workerId = await registerWorker(bench.engine, bench.tenantId, { ...WORKER, name: 'w2', tokenId: own });
  for (const status of ['idle', 'busy', 'draining', 'leaving'] as const) {
    const beat = { tenantId: bench.tenantId, workerId, status, tasks: [] };
    await expect(heartbeat(bench.engine, { ...beat, tokenId: other })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  }
});
