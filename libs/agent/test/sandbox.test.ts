import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CreateTerminalRequest } from '@agentclientprotocol/sdk/unstable';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@pipeline/testing/until';
import { hardened } from '../src/agents/node-agent.ts';
import { findProgram } from '../src/agents/problems.ts';
import { taskFolders } from '../src/git/tree-folders.ts';
import { chooseSandbox, noSandbox } from '../src/sandbox/choose-sandbox.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { Terminals } from '../src/session/terminals.ts';
import { BOXES, BUBBLEWRAP, place } from './agent-bench.ts';

const PATH = '/usr/bin:/bin';
/** An ELF program of 32 bits that ends with 0. */
const EXIT_OF_32_BITS =
  'f0VMRgEBAQAAAAAAAAAAAAIAAwABAAAAVIAECDQAAAAAAAAAAAAAADQAIAABACgAAAAAAAEAAAAAAAAAAIAECACABAhdAAAAXQAAAAUAAAAAEAAAuAEAAAAx282A';
const LIMITS = { maxBytes: 100_000, timeoutMs: 60_000 };
const whenConfined = BUBBLEWRAP === null ? test.skip : test;

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'sandbox-'));
  mkdirSync(join(root, 'operator'));
  writeFileSync(join(root, 'operator/secret'), 'of the operator');
});
afterAll(() => rmSync(root, { recursive: true }));

/** Runs a command in a terminal of a box. @returns its output. */
async function outputOf(sandbox: Sandbox, request: Partial<CreateTerminalRequest> & { command: string }) {
  const { tree, home } = await taskFolders(join(root, 'task'), sandbox);
  const box = sandbox.open({ writable: [tree, home], readable: [], network: false });
  const terminals = new Terminals({ root: tree, env: { PATH, HOME: home }, box });
  const id = terminals.create({ sessionId: 's', ...request });
  await terminals.wait(id);
  const { output } = terminals.output(id);
  await box.end();
  return output;
}

describe.each(BOXES)('a program in the box $name', ({ box: sandbox }) => {
  const open = async () => {
    const { tree, home } = await taskFolders(join(root, 'task'), sandbox);
    const box = sandbox.open({ writable: [tree, home], readable: [], network: false });
    const run = async (command: string) =>
      (await box.run({ command: ['/bin/sh', '-c', command], env: { PATH }, cwd: tree }, LIMITS)).stdout.toString();
    return { box, tree, run };
  };
  const mark = () => `600.${process.pid}${Math.trunc(performance.now() * 1_000)}`;
  const isRunning = (args: string) => spawnSync('pgrep', ['-fx', args]).status === 0;

  test('gives its confiner no variable and no command line with one', async () => {
    const { box, tree } = await open();
    const value = `of-the-program-${mark()}`;
    const program = {
      command: ['/bin/sh', '-c', 'echo "$GIVEN"; read line'],
      env: { PATH, GIVEN: value },
      cwd: tree,
    } as const;
    const started = box.start(program, 'pipe');
    const [first] = (await once(started.stdout, 'data')) as [Buffer];
    expect(first.toString()).toBe(`${value}\n`);
    const found = spawnSync('grep', ['-lsaF', value, `/proc/${started.pid}/environ`, `/proc/${started.pid}/cmdline`]);
    expect(found.stdout.toString()).toBe('');
    await box.end();
  });

  test('cannot send a signal to another program of its task', async () => {
    const { box, tree, run } = await open();
    const args = `sleep ${mark()}`;
    const agent = box.start({ command: ['/bin/sh', '-c', `exec ${args}`], env: { PATH }, cwd: tree }, 'pipe');
    await until('the agent runs', () => isRunning(args));
    const pid = spawnSync('pgrep', ['-fx', args], { encoding: 'utf8' }).stdout.trim();
    expect(await run(`kill -USR1 ${pid} 2>&1; kill -USR1 $(pgrep -fx '${args}') 2>&1`)).toMatch(/no such process/i);
    expect(isRunning(args)).toBe(true);
    await box.end();
    await agent.ended;
  });

  test('a program is not started when its box has ended', async () => {
    const { box, tree, run } = await open();
    await box.end();
    await expect(run('touch late')).rejects.toThrow('the box of the task has ended');
    expect(() => box.start({ command: ['true'], env: { PATH }, cwd: tree }, 'ignore')).toThrow('has ended');
  });

  test('ends with its box when it has left session and process group', async () => {
    const { box, tree } = await open();
    const args = `sleep ${mark()}`;
    box.start({ command: ['/bin/sh', '-c', `setsid setsid ${args} & sleep 600`], env: { PATH }, cwd: tree }, 'pipe');
    await until('the process runs', () => isRunning(args));
    await box.end();
    expect(isRunning(args)).toBe(false);
  });
});

describe('bubblewrap', () => {
  whenConfined('hides files outside its folders and refuses writes to them', async () => {
    const command = `cat ${root}/operator/secret; cat /etc/shadow; touch /etc/made; touch made; ls`;
    const output = await outputOf(BUBBLEWRAP as Sandbox, { command });
    expect(output).not.toMatch(/of the operator|root:/);
    expect(output).toMatch(
      /secret: No such file[\s\S]*shadow: Permission denied[\s\S]*\/etc\/made.*Read-only[\s\S]*made/,
    );
  });

  whenConfined(
    'leaves a program no capability, no further namespace, no network and no writable system folder',
    async () => {
      const command =
        'grep -E "Cap|NoNew" /proc/self/status; mount -o remount,rw /usr; unshare --user true; cat /proc/net/dev; env';
      const output = await outputOf(BUBBLEWRAP as Sandbox, { command, env: [{ name: 'GIVEN', value: "it's given" }] });
      expect(output.match(/Cap\w+:\t0{16}/g)).toHaveLength(5);
      expect(output).toMatch(/NoNewPrivs:\t1[\s\S]*mount: .*(denied|superuser)[\s\S]*unshare failed/);
      expect(output.match(/^ *\w+:/gm)).toContain('    lo:');
      expect(output).not.toMatch(/eth|ens|enp/);
      expect(output).toContain("GIVEN=it's given");
    },
  );

  whenConfined(
    'refuses a program the keys of the worker, the memory of others and rare parts of the kernel',
    async () => {
      const calls = {
        x64: ['250, 0, -3, 0', '101, 0, 0, 0, 0', '425, 1, 0', '321, 0, 0, 0', '272, 0', '0x40000027'],
        arm64: ['219, 0, -3, 0', '117, 0, 0, 0, 0', '425, 1, 0', '280, 0, 0, 0', '97, 0'],
      }[process.arch as 'x64'];
      const script = calls.map((call) => `print syscall(${call}) < 0 ? $!+0 : "done", "\n";`).join('');
      const output = await outputOf(BUBBLEWRAP as Sandbox, { command: 'perl', args: ['-e', script] });
      expect(output.trim().split('\n')).toEqual(calls.map(() => `${constants.errno.EPERM}`));
    },
  );

  const onX64 = process.arch === 'x64' ? whenConfined : test.skip;
  onX64('kills a program of 32 bits, whose system calls have other numbers', async () => {
    const command = `echo ${EXIT_OF_32_BITS} | base64 -d > exit; chmod +x exit; ./exit; echo "status $?"`;
    const output = await outputOf(BUBBLEWRAP as Sandbox, { command });
    expect(output).toContain(`status ${128 + constants.signals.SIGSYS}`);
  });

  whenConfined('ends its programs when the worker is killed', async () => {
    const args = `sleep 602.${process.pid}`;
    const script = `
      import { chooseSandbox } from ${JSON.stringify(new URL('../src/sandbox/choose-sandbox.ts', import.meta.url).href)};
      const sandbox = await chooseSandbox('bubblewrap', ${JSON.stringify(place)});
      const box = sandbox.open({ writable: [], readable: [], network: false });
      box.start({ command: ['/bin/sh', '-c', 'exec ${args}'], env: { PATH: '${PATH}' }, cwd: '/' }, 'ignore');
      setInterval(() => undefined, 1_000);`;
    const worker = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
    const isRunning = () => spawnSync('pgrep', ['-fx', args]).status === 0;
    await until('the program runs', isRunning);
    worker.kill('SIGKILL');
    await until('the program has ended', () => !isRunning());
  });

  whenConfined('is never root, inside and outside', async () => {
    const sandbox = BUBBLEWRAP as Sandbox;
    const output = await outputOf(sandbox, { command: 'id -u; cut -d" " -f1-9 /proc/self/uid_map; touch owned' });
    const { tree } = await taskFolders(join(root, 'task'), sandbox);
    const { uid } = statSync(join(tree, 'owned'));
    expect(uid).not.toBe(0);
    expect(output.split(/\s+/)).toEqual(expect.arrayContaining([`${uid}`]));
    expect(output).not.toMatch(/^\s*0\b/m);
  });

  test.each(['auto', 'bubblewrap'] as const)('throws for %s when it is missing', async (choice) => {
    const options = {
      path: '/nowhere',
      user: null,
      readable: [],
      egress: null,
      vm: { image: root, accel: 'kvm' as const },
    };
    await expect(chooseSandbox(choice, options)).rejects.toThrow(/apt-get install bubblewrap.*write --sandbox none/);
    expect(await chooseSandbox('none', options)).toMatchObject({ name: 'none', isConfined: false });
  });

  test('throws when it cannot start a program', async () => {
    writeFileSync(join(root, 'bwrap'), '#!/bin/sh\necho "no permission to create a namespace" >&2; exit 1\n', {
      mode: 0o755,
    });
    const options = {
      path: `${root}:${PATH}`,
      user: null,
      readable: [],
      egress: null,
      vm: { image: root, accel: 'kvm' as const },
    };
    await expect(chooseSandbox('auto', options)).rejects.toThrow(
      'cannot start a program on this machine: no permission to create a namespace',
    );
  });
});

test.each([
  'LD_PRELOAD',
  'LD_AUDIT',
  'LD_LIBRARY_PATH',
  'DYLD_INSERT_LIBRARIES',
  'NODE_OPTIONS',
  'BASH_ENV',
  'PATH',
  'A=B',
  '',
])('refuses the variable "%s" of a terminal, which would load code into programs', (name) => {
  const box = noSandbox(null).open({ writable: [], readable: [], network: false });
  const terminals = new Terminals({ root, env: {}, box });
  const start = () => terminals.create({ sessionId: 's', command: 'true', env: [{ name, value: './x.so' }] });
  expect(start).toThrow(/command line|letters, digits/);
});

describe('programs', () => {
  test('a program is not found when its folder of the PATH is not absolute', () => {
    const here = process.cwd();
    writeFileSync(join(root, 'own-git'), '#!/bin/sh\n', { mode: 0o755 });
    const relative =
      join(root)
        .split('/')
        .slice(1)
        .map(() => '..')
        .join('/') + root;
    process.chdir('/');
    expect(findProgram('own-git', `:.${root}:${relative}`)).toBeNull();
    process.chdir(here);
    expect(findProgram('own-git', root)).toBe(join(root, 'own-git'));
  });

  test('an agent of Node.js starts without its inspector when it is a script or a command', () => {
    const [script, shell] = [join(root, 'agent'), join(root, 'other')];
    writeFileSync(script, '#!/usr/bin/env node\n', { mode: 0o755 });
    writeFileSync(shell, '#!/bin/sh\n', { mode: 0o755 });
    const path = `${dirname(process.execPath)}:${PATH}`;
    expect(hardened(['agent', 'acp'], `${root}:${path}`)).toEqual([
      process.execPath,
      '--disable-sigusr1',
      script,
      'acp',
    ]);
    expect(hardened([process.execPath, 'x.js'], path)).toEqual([process.execPath, '--disable-sigusr1', 'x.js']);
    expect(hardened(['other'], `${root}:${path}`)).toEqual(['other']);
  });
});
