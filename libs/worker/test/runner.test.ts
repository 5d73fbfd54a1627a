import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiFailure } from '@pipeline/contract';
import { processStarter } from '../src/exec/process-namespace.ts';
import type { TaskContext } from '../src/tasks/task-run.ts';
import type { Verdict } from '../src/tasks/verdict.ts';
import { refusal } from './fake-service.ts';
import { isAlive, WorkerBench } from './worker-bench.ts';

let bench: WorkerBench;
beforeEach(async () => {
  bench = await WorkerBench.open();
});
afterEach(() => bench.close());

const ANALYZED: Verdict = { kind: 'outcome', outcome: 'analyzed', result: {} };
const done = async () => ANALYZED;
/** Works until it is stopped. */
const endless = (_: unknown, { signal }: TaskContext) =>
  new Promise<Verdict>((resolve) => signal.addEventListener('abort', () => resolve(ANALYZED)));

/** A program with a child of its own; both ids are in a file when progress is reported. */
/** The process id in the namespace of the machine. */
const OWN_PID = 'read pid rest < /proc/self/stat';
const FAMILY = [
  `sh -c '${OWN_PID}; echo $pid > ../child; exec sleep 600' & ${OWN_PID}`,
  'while ! [ -s ../child ]; do :; done; echo "$(cat ../child) $pid" > ../pids',
  `echo '{"type":"progress","status":"born"}'; trap '' TERM; wait; sleep 600`,
].join('; ');

async function family(): Promise<number[]> {
  await bench.service.call('reportProgress');
  return (await bench.read('pids')).trim().split(' ').map(Number);
}

describe('claims', () => {
  test('name themselves: one key for all attempts of a claim, another one for the next claim', async () => {
    bench.service.on('claimTask', (_, nth) => (nth === 0 ? 'drop' : undefined));
    bench.service.add('analyze');
    bench.service.add('analyze');
    bench.start({ handler: done });
    await bench.service.call('completeTask', (call) => call.taskId === 't-2');
    const [lost, again, next] = bench.service.of('claimTask').map((call) => call.body.claimKey as string);
    expect(again).toBe(lost);
    expect(next).not.toBe(lost);
  });

  test('one after the other, as many at a time as allowed, each in a slot of its own', async () => {
    const slots: number[] = [];
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const handler = async (_: unknown, { slot }: TaskContext) => {
      slots.push(slot);
      if (slots.length === 2) release();
      await gate;
      return ANALYZED;
    };
    for (let count = 0; count < 4; count += 1) bench.service.add('analyze');
    const served = { taskTypes: ['analyze' as const], repos: ['acme/widgets'], agents: ['claude'] };
    const { worker, ended } = bench.start({ handler, concurrency: 2, ...served });
    await bench.service.call('completeTask', (call) => call.taskId === 't-4');
    worker.leave();
    await ended;
    expect(new Set(slots.slice(0, 2))).toEqual(new Set([0, 1]));
    expect(bench.service.of('completeTask')).toHaveLength(4);
    expect(bench.service.of('registerWorker')[0]?.body).toMatchObject(served);
    expect(bench.service.of('claimTask')[0]?.body).toEqual({
      workerId: 'w-1',
      taskTypes: ['analyze'],
      repos: ['acme/widgets'],
      agents: ['claude'],
      waitMs: 30_000,
      claimKey: expect.any(String),
    });
  });

  test('retries claims through outages', async () => {
    bench.service.on('registerWorker', (_, nth) => (nth === 0 ? 'drop' : undefined));
    bench.service.on('claimTask', (_, nth) => (nth < 2 ? refusal(503, 'STORE_UNAVAILABLE') : undefined));
    bench.service.add('analyze');
    bench.start({ handler: done });
    await bench.service.call('completeTask');
    expect(bench.service.of('claimTask').length).toBeGreaterThanOrEqual(3);
  });

  test('stop while the service drains the worker, and go on afterwards', async () => {
    bench.service.heard.draining = true;
    bench.service.on('claimTask', () => (bench.service.heard.draining ? { status: 204 } : undefined));
    bench.start({ handler: done });
    await bench.service.heartbeats(2);
    const claims = bench.service.of('claimTask').length;
    await bench.service.heartbeats(3);
    expect(bench.service.of('claimTask')).toHaveLength(claims);
    expect(new Set(bench.service.of('heartbeat').map(({ body }) => body.status))).toEqual(new Set(['idle']));
    bench.service.heard.draining = false;
    bench.service.add('analyze');
    await bench.service.call('completeTask');
  });

  test('a worker that the service has forgotten registers again and drops what it had', async () => {
    let isCancelled = false;
    bench.service.add('analyze');
    bench.service.on('heartbeat', (call) => {
      if (isCancelled || call.body.tasks.length === 0) return undefined;
      isCancelled = true;
      return refusal(404, 'NOT_FOUND');
    });
    const { worker } = bench.start({ handler: endless });
    await bench.service.call('heartbeat', () => bench.service.of('registerWorker').length === 2 && worker.busy === 0);
    expect(bench.service.of('completeTask')).toHaveLength(0);
    expect(bench.service.of('failTask')).toHaveLength(0);
  });

  test('a refused token ends the worker and what it runs', async () => {
    bench.service.add('develop');
    const { ended } = bench.exec(FAMILY);
    const pids = await family();
    bench.service.on('heartbeat', () => refusal(401, 'AUTH_FAILED'));
    await expect(ended).rejects.toBeInstanceOf(ApiFailure);
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe('heartbeats', () => {
  test('carry the tokens of running tasks, and say when the worker is busy, idle and gone', async () => {
    const task = bench.service.add('develop');
    const { worker, ended } = bench.start({ handler: endless });
    const busy = await bench.service.call('heartbeat', (call) => call.body.status === 'busy');
    expect(busy.body.tasks).toEqual([{ taskId: task.id, claimToken: task.claimToken }]);
    worker.abandon();
    await ended;
    expect(bench.service.of('heartbeat').at(-1)?.body).toMatchObject({ status: 'leaving', tasks: [] });
  });

  test('a withdrawn task ends with all its processes, and nothing is reported', async () => {
    bench.service.add('develop');
    const { worker, ended } = bench.exec(FAMILY);
    const pids = await family();
    expect(pids.filter(isAlive)).toHaveLength(2);
    bench.service.heard.cancelTaskIds = ['t-1'];
    await bench.service.call('heartbeat', () => worker.busy === 0);
    expect(pids.filter(isAlive)).toEqual([]);
    worker.leave();
    await ended;
    expect(bench.service.of('completeTask')).toHaveLength(0);
    expect(bench.service.of('failTask')).toHaveLength(0);
  });

  test('drops the task when no heartbeat is answered for as long as a lease', async () => {
    let time = Date.parse('2026-01-01T00:00:00Z');
    bench.service.add('develop');
    const { worker } = bench.start({ handler: endless, now: () => new Date(time) });
    await bench.service.call('heartbeat', (call) => call.body.tasks.length === 1);
    bench.service.on('heartbeat', () => refusal(503, 'STORE_UNAVAILABLE'));
    await bench.service.heartbeats(3);
    expect(worker.busy).toBe(1);
    time += 61_000;
    await bench.service.call('heartbeat', () => worker.busy === 0);
    expect(bench.service.of('failTask')).toHaveLength(0);
  });
});

describe('reports', () => {
  test('repeats a report until it is answered', async () => {
    bench.service.on('completeTask', (_, nth) => (nth === 0 ? 'drop' : undefined));
    bench.service.on('completeTask', (_, nth) => (nth === 1 ? { status: 502, body: 'bad gateway' } : undefined));
    bench.service.add('analyze');
    const { worker, ended } = bench.start({ handler: done });
    await bench.service.call('completeTask', () => bench.service.of('completeTask').length === 3);
    worker.leave();
    await ended;
    const bodies = bench.service.of('completeTask').map((call) => call.body);
    expect(bodies).toHaveLength(3);
    expect(bodies[2]).toEqual(bodies[0]);
  });

  test('wait out an outage that is longer than the lease, because the service keeps the claim', async () => {
    let time = Date.parse('2026-01-01T00:00:00Z');
    let away = false;
    const outage = () => (away ? refusal(503, 'STORE_UNAVAILABLE') : undefined);
    bench.service.on('heartbeat', outage);
    bench.service.on('completeTask', outage);
    bench.service.add('analyze');
    const handler = async () => {
      away = true;
      return ANALYZED;
    };
    const { worker } = bench.start({ handler, now: () => new Date(time) });
    await bench.service.call('completeTask');
    time += 61_000;
    await bench.service.heartbeats(3);
    expect(worker.busy).toBe(1);
    away = false;
    await bench.service.call('heartbeat', () => worker.busy === 0);
    expect(bench.service.of('failTask')).toHaveLength(0);
  });

  test.each([409, 410])('a claim that is gone (%d) ends the handler, and nothing more is reported', async (status) => {
    const code = status === 409 ? 'CLAIM_LOST' : 'TASK_CANCELLED';
    bench.service.on('reportProgress', () => refusal(status, code));
    bench.service.add('develop');
    const { worker, ended } = bench.exec(FAMILY);
    const pids = await family();
    await bench.service.call('heartbeat', () => worker.busy === 0);
    expect(pids.filter(isAlive)).toEqual([]);
    worker.leave();
    await ended;
    expect(bench.service.of('completeTask').concat(bench.service.of('failTask'))).toEqual([]);
  });

  test('one that the service refuses becomes a failure that names the reason', async () => {
    bench.service.on('completeTask', () => refusal(413, 'PAYLOAD_TOO_LARGE'));
    bench.service.add('analyze');
    bench.start({ handler: done });
    expect((await bench.service.call('failTask')).body).toMatchObject({
      errorClass: 'transient',
      errorMessage: expect.stringContaining('PAYLOAD_TOO_LARGE'),
    });
  });

  test('a handler that throws has failed', async () => {
    bench.service.add('analyze');
    bench.start({
      handler: async () => {
        throw new Error('broke');
      },
    });
    expect((await bench.service.call('failTask')).body).toMatchObject({
      errorClass: 'transient',
      errorMessage: 'broke',
    });
  });

  test('a task that came back after a lost lease numbers its messages apart from the first run', async () => {
    bench.service.add('analyze', { attempt: 2 });
    bench.exec('echo hello');
    await bench.service.call('completeTask');
    const body = bench.service.of('recordMessages')[0]?.body;
    expect(body.items[0]).toMatchObject({ sequence: 2_000_000, content: 'hello' });
  });
});

describe('leaving', () => {
  test('an idle worker leaves at once, in the middle of a long poll', async () => {
    const { worker, ended } = bench.start({ handler: done });
    await bench.service.call('claimTask');
    worker.leave();
    await ended;
    expect(bench.service.of('heartbeat').at(-1)?.body.status).toBe('leaving');
  });

  test('a busy one finishes first', async () => {
    bench.service.add('develop');
    const { worker, ended } = bench.exec(
      `echo '{"type":"progress","status":"begun"}'; while [ ! -e ../go ]; do sleep 0.02; done; echo '{"type":"outcome","outcome":"replan","result":{"reason":"x"}}'`,
    );
    await bench.service.call('reportProgress');
    worker.leave();
    await bench.service.call('heartbeat', (call) => call.body.status === 'draining');
    await bench.script('go', '');
    await ended;
    expect(bench.service.of('completeTask')[0]?.body.outcome).toBe('replan');
    expect(bench.service.of('claimTask')).toHaveLength(1);
  });

  test('stops the program and returns the task at a second signal', async () => {
    bench.service.add('develop');
    const { worker, ended } = bench.exec(FAMILY);
    const pids = await family();
    worker.leave();
    worker.abandon();
    await ended;
    expect(pids.filter(isAlive)).toEqual([]);
    expect(bench.service.of('failTask')[0]?.body).toMatchObject({
      errorClass: 'transient',
      errorMessage: expect.stringContaining('stopped'),
    });
  });

  test('once: one task, then gone', async () => {
    bench.service.add('analyze');
    bench.service.add('analyze');
    const { ended } = bench.start({ handler: done, once: true });
    await ended;
    expect(bench.service.of('completeTask')).toHaveLength(1);
  });
});

const leavesGroups = processStarter(null).isNamespace ? test : test.skip;
describe('a process that a program leaves behind', () => {
  const endsWithItsTask = async (start: string) => {
    const mark = `600.${process.pid}${Math.trunc(performance.now())}`;
    bench.service.add('analyze');
    const { ended } = bench.exec(`${start} sleep ${mark} & while ! pgrep -f 'sleep ${mark}' > ../found; do :; done`, {
      once: true,
    });
    await ended;
    expect(await readFile(`${bench.dir}/found`, 'utf8')).toMatch(/\d/);
    expect(bench.service.of('completeTask')).toHaveLength(1);
    expect(spawnSync('pgrep', ['-fx', `sleep ${mark}`], { encoding: 'utf8' }).stdout).toBe('');
  };

  test('ends with its task when it runs in the background', () => endsWithItsTask(''));
  leavesGroups('ends with its task when it has left session and process group', () => endsWithItsTask('setsid setsid'));
});
