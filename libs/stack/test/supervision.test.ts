import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { processIdentity } from '@pipeline/local-postgres';
import { sleep } from '@pipeline/runtime';
import { addressFrom, type ChildSpec } from '../src/supervision/child-spec.ts';
import { endLeftovers, readProcesses } from '../src/supervision/process-list.ts';
import { Supervisor } from '../src/supervision/supervisor.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');

let dataDir: string;
let said: string[];
let supervisor: Supervisor;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pipeline-supervision-'));
  said = [];
  supervisor = new Supervisor({ dataDir, say: (message) => said.push(message) });
});

afterEach(async () => {
  supervisor.killAll();
  await supervisor.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const child = (what: string, more: Partial<ChildSpec> = {}): ChildSpec => ({
  name: 'child',
  argv: [join(FIXTURES, 'child.ts'), what],
  env: {},
  readyFrom: addressFrom,
  logsItself: false,
  stopSteps: [1_000],
  ...more,
});

const pidOf = (name = 'child') => readProcesses(dataDir)[name]?.pid ?? 0;
const lives = async (pid: number) => (await processIdentity(pid)) !== null;

const LIMIT_MS = 60_000;

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not so after ${LIMIT_MS} ms: ${holds}`);
    await sleep(20);
  }
}

test('returns the address of a child, logs its output, and stops it', async () => {
  const url = await supervisor.start(child('serve'));
  await until(() => pidOf() > 0);
  expect(url).toBe(`http://127.0.0.1/${pidOf()}`);
  const pid = pidOf();
  await until(async () => (await readFile(join(dataDir, 'logs/child.err'), 'utf8').catch(() => '')) !== '');
  await supervisor.stop();
  expect(await lives(pid)).toBe(false);
  expect(await readFile(join(dataDir, 'logs/child.err'), 'utf8')).toBe('no JSON\n');
  // The line with the address may hold a password.
  expect(await readFile(join(dataDir, 'logs/child.log'), 'utf8')).toBe('{"msg":"a line"}\n');
  expect(said).toEqual([]);
});

test('a child that was killed is started again, and that is reported', async () => {
  await supervisor.start(child('serve'));
  await until(() => pidOf() > 0);
  const first = pidOf();
  process.kill(first, 'SIGKILL');
  await until(() => said.length === 2);
  await until(() => pidOf() !== first);
  expect(said).toEqual(['child ended (SIGKILL); restarting in 0.25 s', 'child is running again']);
  expect(await lives(pidOf())).toBe(true);
});

test('a child that is killed while it starts is started again', async () => {
  const started = supervisor.start(child('serve when its file exists', { env: { FILE: join(dataDir, 'go') } }));
  await until(() => pidOf() > 0);
  process.kill(pidOf(), 'SIGKILL');
  await until(() => said.length > 0);
  await writeFile(join(dataDir, 'go'), '');
  expect(await started).toMatch(/^http/);
  expect(said).toEqual(['child ended while it started (SIGKILL); starting it again']);
});

test('a child that is killed at each start is given up', async () => {
  const started = supervisor.start(child('kill itself'));
  await expect(started).rejects.toThrow('child did not start (SIGKILL)');
  expect(said).toHaveLength(3);
});

test('a child that cannot start reports why, and is not started again', async () => {
  const started = supervisor.start(child('refuse'));
  await expect(started).rejects.toThrow('child did not start (exit code 78):\nPORT: must be a number');
  expect(said).toEqual([]);
});

test('an error that a child logs as JSON is its reason too', async () => {
  const started = supervisor.start(child('say its error in JSON'));
  await expect(started).rejects.toThrow('child did not start (exit code 1):\nfile is not a database');
});

test('a child that needs a second signal gets it, one that heeds none is killed', async () => {
  const specs = [
    child('need two signals', { name: 'two', stopSteps: [200, 5_000] }),
    child('ignore signals', { name: 'deaf', stopSteps: [200, 200] }),
  ];
  await Promise.all(specs.map((spec) => supervisor.start(spec)));
  await until(() => pidOf('two') > 0 && pidOf('deaf') > 0);
  const pids = [pidOf('two'), pidOf('deaf')];
  await supervisor.stop();
  expect(await Promise.all(pids.map(lives))).toEqual([false, false]);
  expect(await readFile(join(dataDir, 'logs/two.err'), 'utf8')).toBe('heard both\n');
});

test('a process that a killed child had started ends with it', async () => {
  const grandchild = Number(await supervisor.start(child('leave a grandchild')));
  expect(await lives(grandchild)).toBe(true);
  await until(() => pidOf() > 0);
  process.kill(pidOf(), 'SIGKILL');
  await until(async () => !(await lives(grandchild)));
});

test('nothing is started once the stack stops', async () => {
  supervisor.close();
  expect(() => supervisor.start(child('serve'))).toThrow('the stack is stopping');
});

test('a child whose parent was killed ends by itself', async () => {
  const parent = spawn(process.execPath, [join(FIXTURES, 'parent.ts'), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(String(line));
  expect(await lives(pid)).toBe(true);
  parent.kill('SIGKILL');
  await until(async () => !(await lives(pid)));
});

test('the next start ends what a killed stack left, and no other process', async () => {
  await supervisor.start(child('serve'));
  await until(() => pidOf() > 0);
  const pid = pidOf();
  // As after a crash: the list is there, no supervisor watches.
  const started = readProcesses(dataDir);
  supervisor.close();
  const stranger = { pid: process.pid, identity: `${process.pid} 1` };
  const list = join(dataDir, 'processes.json');
  await writeFile(list, JSON.stringify({ ...started, stranger }));
  expect(await endLeftovers(dataDir)).toEqual(['child']);
  expect(await lives(pid)).toBe(false);
});
