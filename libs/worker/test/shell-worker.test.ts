/** The worker of docs/worker-protocol.md, run as it stands there. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { FakeService, refusal } from './fake-service.ts';

const PAGE = new URL('../../../docs/worker-protocol.md', import.meta.url);
const script = /```sh\n([\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8'))?.[1] ?? '';

let service: FakeService;
let child: ChildProcess | undefined;
beforeEach(async () => {
  service = await FakeService.start();
});
afterEach(async () => {
  if (child?.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  await service.close();
});

test('claims a task, starts it, holds its lease and completes it when it is run as documented', async () => {
  execFileSync('jq', ['--version']);
  service.timing = { heartbeatIntervalMs: 50, leaseMs: 60_000 };
  const body = { number: 3, title: 'It\'s "quoted"', body: '', url: '', labels: [], author: null };
  const task = service.add('analyze');
  Object.assign(task.payload, { issue: body });
  const work = script.replace('# the work: replace this line', '; sleep 0.3');
  child = spawn('sh', ['-c', work], {
    env: { PATH: process.env.PATH, HOSTED: service.url, WORKER_TOKEN: 'wrk_at_shell' },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
  const { body: report, authorization } = await service.call('completeTask');
  expect(authorization).toBe('Bearer wrk_at_shell');
  expect(report).toMatchObject({ claimToken: task.claimToken, outcome: 'analyzed' });
  expect(report.result.summary).toBe('Read: It\'s "quoted"');
  expect(service.of('startTask')).toHaveLength(1);
  const held = await service.call('heartbeat');
  expect(held.body).toMatchObject({ status: 'busy', tasks: [{ taskId: task.id, claimToken: task.claimToken }] });
});

test('ends when the service rejects its token', async () => {
  service.on('registerWorker', () => refusal(401, 'AUTH_FAILED'));
  child = spawn('sh', ['-c', script], {
    env: { PATH: process.env.PATH, HOSTED: service.url, WORKER_TOKEN: 'wrk_at_wrong' },
    stdio: 'ignore',
    detached: true,
  });
  expect((await once(child, 'exit'))[0]).toBe(1);
});
