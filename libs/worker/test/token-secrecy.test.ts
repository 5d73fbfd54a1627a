import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, copyFileSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { WorkerBench } from './worker-bench.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const ATTACK = fileURLToPath(new URL('./attack.mjs', import.meta.url));
const TOKEN = 'wrk_at_0123456789abcdef';

let bench: WorkerBench;
const children: ChildProcess[] = [];
beforeEach(async () => {
  bench = await WorkerBench.open();
  // Programs of other users write their findings here.
  chmodSync(bench.dir, 0o777);
});
afterEach(async () => {
  for (const child of children.splice(0))
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  await bench.close();
});

interface Findings {
  runner: string;
  findings: string[];
  denied: string[];
  uid: number;
  groups: number[];
}

interface Start {
  args?: string[];
  env?: Record<string, string>;
  stdin?: number | 'ignore';
  /** Commands of the shell that starts the runner. */
  before?: string;
}

/** Runs the attack as the program of a worker. @returns what it found, and the runner's own output. */
async function attack({ args = [], env = { WORKER_TOKEN: TOKEN }, stdin = 'ignore', before = '' }: Start = {}) {
  bench.service.add('develop');
  const path = join(bench.dir, 'findings.json');
  const script = join(bench.dir, 'attack.mjs');
  copyFileSync(ATTACK, script);
  chmodSync(script, 0o644);
  // The runner keeps its process id, also when it restarts itself.
  const command = `'${process.execPath}' '${script}' "$RUNNER" '${path}'`;
  const common = ['--server', bench.service.url, '--tasks', 'develop', '--once', '--work-dir', join(bench.dir, 'work')];
  const started = spawn(
    '/bin/bash',
    ['-c', `${before}\nRUNNER=$$ exec "$0" "$@"`, process.execPath, MAIN, ...common, '--exec', command, ...args],
    {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: [stdin, 'pipe', 'pipe'],
    },
  );
  children.push(started);
  const output = Promise.all([text(started.stdout as Readable), text(started.stderr as Readable)]);
  await once(started, 'close');
  const printed = (await output).join('');
  try {
    return { ...(JSON.parse(readFileSync(path, 'utf8')) as Findings), printed };
  } catch (error) {
    throw new Error(`the attack did not end: ${printed}`, { cause: error });
  }
}

describe('a program under --exec', () => {
  test('finds the worker token in no environment, command line or descriptor, and starts no inspector', async () => {
    const { findings, printed } = await attack({ env: { WORKER_TOKEN: TOKEN, COPY: `Bearer ${TOKEN}` } });
    expect(findings).toEqual([]);
    expect(printed).not.toContain(TOKEN);
    const [registered] = bench.service.of('registerWorker');
    expect(registered?.authorization).toBe(`Bearer ${TOKEN}`);
  });

  test('finds it neither when it came over a descriptor', async () => {
    const path = join(bench.dir, 'token');
    writeFileSync(path, `${TOKEN}\n`, { mode: 0o600 });
    const fd = openSync(path, 'r');
    execFileSync('rm', [path]);
    const { findings } = await attack({ args: ['--token-fd', '0'], env: {}, stdin: fd });
    closeSync(fd);
    expect(findings).toEqual([]);
    expect(bench.service.of('registerWorker')[0]?.authorization).toBe(`Bearer ${TOKEN}`);
  });

  test('finds it neither when it came from a file', async () => {
    const path = join(bench.dir, 'token');
    writeFileSync(path, `${TOKEN}\n`, { mode: 0o600 });
    const { findings } = await attack({ env: { WORKER_TOKEN_FILE: path } });
    expect(findings).toEqual([]);
    expect(bench.service.of('registerWorker')[0]?.authorization).toBe(`Bearer ${TOKEN}`);
  });
});

test('a descriptor that is open at the start of the runner is open in no program', async () => {
  const path = join(bench.dir, 'secret');
  writeFileSync(path, 'wrk_at_ofanotherprogram');
  // Node.js closes only numbers below the first unused one above 15 in its children.
  const { findings } = await attack({ before: `exec 100< '${path}'; rm '${path}'` });
  expect(findings).toEqual([]);
});

test('refuses a token that is on the command line', async () => {
  const args = [MAIN, '--server', bench.service.url, '--tasks', 'develop', '--exec', `TOKEN=${TOKEN} ./agent`];
  const started = spawn(process.execPath, args, { env: { PATH: process.env.PATH ?? '', WORKER_TOKEN: TOKEN } });
  children.push(started);
  const printed = text(started.stderr);
  const [code] = await once(started, 'close');
  expect(code).toBe(78);
  expect(await printed).toContain('the worker token is on the command line');
});

const asRoot = process.getuid?.() === 0 ? describe : describe.skip;
asRoot('a program under --exec --user', () => {
  test('runs as that user, without the groups of the runner, and may not look into the runner', async () => {
    const { runner, findings, denied, uid, groups } = await attack({ args: ['--user', 'nobody'] });
    const nobody = Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }));
    expect(uid).toBe(nobody);
    expect(groups).not.toContain(0);
    expect(findings).toEqual([]);
    expect(denied).toContain(`/proc/${runner}/environ EACCES`);
    expect(denied).toContain(`/proc/${runner}/fd EACCES`);
    expect(denied.filter((each) => /^SIGUSR1 (EPERM|ESRCH)$/.test(each))).toHaveLength(1);
  });

  test.each([
    ['an unknown user', ['--user', 'no-such-user'], 'user no-such-user does not exist'],
    ['root', ['--user', 'root'], 'root programs can read the token'],
  ])('the worker exits with 78 for %s', async (_, args, message) => {
    const common = ['--server', bench.service.url, '--tasks', 'develop', '--exec', 'true', '--work-dir', bench.dir];
    const started = spawn(process.execPath, [MAIN, ...common, ...args], { env: { WORKER_TOKEN: TOKEN } });
    children.push(started);
    const printed = text(started.stderr);
    expect((await once(started, 'close'))[0]).toBe(78);
    expect(await printed).toContain(message);
  });
});
