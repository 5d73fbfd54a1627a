import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { duration } from '../src/options.ts';
import { refusal } from './fake-service.ts';
import { WorkerBench } from './worker-bench.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

let bench: WorkerBench;
let child: ChildProcess | undefined;
beforeEach(async () => {
  bench = await WorkerBench.open();
});
afterEach(async () => {
  if (child?.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  await bench.close();
});

interface Running {
  child: ChildProcess;
  end: Promise<{ code: number | null; output: string }>;
}

function start(args: string[], env: Record<string, string> = { WORKER_TOKEN: 'wrk_at_x' }): Running {
  const common = ['--server', bench.service.url, '--tasks', 'develop', '--work-dir', `${bench.dir}/work`];
  const started = spawn(process.execPath, [MAIN, ...common, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  const output = Promise.all([text(started.stdout), text(started.stderr)]).then((parts) => parts.join(''));
  const end = once(started, 'close').then(async ([code]) => ({ code: code as number | null, output: await output }));
  return { child: started, end };
}

test.each([
  ['2 when the usage is wrong', ['--exec', 'true', '--nonsense'], { WORKER_TOKEN: 'wrk_at_x' }, 2],
  ['2 when an option has a wrong value', ['--exec', 'true', '--concurrency', '0'], { WORKER_TOKEN: 'wrk_at_x' }, 2],
  ['78 when the token is not set', ['--exec', 'true'], {}, 78],
  [
    '78 when the work folder cannot be made',
    ['--exec', 'true', '--work-dir', '/proc/pipeline'],
    { WORKER_TOKEN: 'x' },
    78,
  ],
])('ends with %s', async (_what, args, env: Record<string, string>, code) => {
  expect(await start(args, env).end).toMatchObject({ code, output: expect.stringMatching(/\S/) });
});

const WAITING = `echo '{"type":"progress","status":"begun"}'; while [ ! -e ../go ]; do sleep 0.02; done; echo '{"type":"outcome","outcome":"replan","result":{"reason":"x"}}'`;

test('SIGTERM: the running task is finished and reported, then the worker reports that it leaves', async () => {
  bench.service.add('develop');
  const { child: process, end } = start(['--exec', WAITING]);
  await bench.service.call('reportProgress');
  process.kill('SIGTERM');
  await bench.service.call('heartbeat', (call) => call.body.status === 'draining');
  await bench.script('go', '');
  expect((await end).code).toBe(0);
  expect(bench.service.of('completeTask')[0]?.body.outcome).toBe('replan');
  expect(bench.service.of('heartbeat').at(-1)?.body.status).toBe('leaving');
});

test('a second signal gives the task back', async () => {
  bench.service.add('develop');
  const { child: process, end } = start(['--exec', 'echo \'{"type":"progress","status":"begun"}\'; sleep 600']);
  await bench.service.call('reportProgress');
  process.kill('SIGINT');
  await bench.service.call('heartbeat', (call) => call.body.status === 'draining');
  process.kill('SIGINT');
  expect((await end).code).toBe(0);
  expect(bench.service.of('failTask')[0]?.body.errorClass).toBe('transient');
});

test('a refused token ends the worker, and the token is not in its output', async () => {
  bench.service.on('registerWorker', () => refusal(401, 'AUTH_FAILED'));
  const { code, output } = await start(['--exec', 'true', '--token-env', 'T'], { T: 'wrk_at_x' }).end;
  expect(code).toBe(78);
  expect(output).toContain('the service rejected the token in T');
  expect(output).not.toContain('wrk_at_x');
});

test.each([
  ['without a token', ['--exec', 'true'], {}, /WORKER_TOKEN must contain/],
  ['with an unknown task type', ['--exec', 'true', '--tasks', 'dig'], { WORKER_TOKEN: 'x' }, /of: analyze, plan/],
  ['with a bad slug', ['--exec', 'true', '--repos', 'a/b,c'], { WORKER_TOKEN: 'x' }, /owner\/name/],
  ['with a bad time', ['--exec', 'true', '--task-timeout', '30'], { WORKER_TOKEN: 'x' }, /like 90s, 30m/],
])('%s it prints what would be right', async (_, args, env, message) => {
  const { code, output } = await start(args as string[], env as Record<string, string>).end;
  expect(code).toBeGreaterThan(0);
  expect(output).toMatch(message as RegExp);
});

test('times', () => {
  expect([duration('90s'), duration('1.5h'), duration('250ms'), duration('30m')]).toEqual([
    90_000, 5_400_000, 250, 1_800_000,
  ]);
  for (const wrong of ['', '5', '-1s', '0s', '99999h', 's']) expect(() => duration(wrong)).toThrow('must be a time');
});
