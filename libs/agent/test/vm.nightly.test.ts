/** Virtual machines, emulated: each program takes seconds to start. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@pipeline/testing/until';
import { taskFolders } from '../src/git/tree-folders.ts';
import { chooseSandbox } from '../src/sandbox/choose-sandbox.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { place } from './agent-bench.ts';
import { connectionsFrom, SEEN, TARGETS } from './egress-probe.ts';

const PATH = '/usr/bin:/bin';
const LIMITS = { maxBytes: 100_000, timeoutMs: 150_000 };

const machines: Sandbox | string = await chooseSandbox('vm', place).catch((error: Error) => error.message);
if (typeof machines === 'string') process.stderr.write(`SKIPPED: tests of virtual machines: ${machines}\n`);
const inMachines = typeof machines === 'string' ? describe.skip : describe;

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'vm-'));
  mkdirSync(join(root, 'operator'));
  writeFileSync(join(root, 'operator/secret'), 'of the operator');
});
afterAll(() => rmSync(root, { recursive: true }));

inMachines('a program in a virtual machine', () => {
  const sandbox = machines as Sandbox;
  const open = async () => {
    const { tree, home } = await taskFolders(join(root, 'task'), sandbox);
    const box = sandbox.open({ writable: [tree, home], readable: [], network: false });
    const run = async (command: string, env: Record<string, string> = {}) => {
      const ended = await box.run({ command: ['/bin/sh', '-c', command], env: { PATH, ...env }, cwd: tree }, LIMITS);
      return { ...ended, stdout: ended.stdout.toString() };
    };
    return { box, tree, run };
  };

  test('a program has its folder, its variables and its streams, and ends with its exit status', async () => {
    const { box, tree } = await open();
    const command = ['/bin/sh', '-c', 'pwd; echo "$GIVEN"; cat; echo aside >&2; touch made; exit 7'] as const;
    const program = box.start({ command, env: { PATH, GIVEN: "it's given" }, cwd: tree }, 'pipe');
    const [out, err]: Buffer[][] = [[], []];
    program.stdout.on('data', (chunk: Buffer) => out?.push(chunk));
    program.stderr.on('data', (chunk: Buffer) => err?.push(chunk));
    const input = 'x'.repeat(200_000);
    program.stdin?.end(input);
    expect(await program.ended).toEqual({ exitCode: 7, signal: null });
    await program.drained();
    expect(Buffer.concat(out ?? []).toString()).toBe(`${tree}\nit's given\n${input}`);
    expect(Buffer.concat(err ?? []).toString()).toBe('aside\n');
    expect(statSync(join(tree, 'made')).uid).toBe(statSync(tree).uid);
    await box.end();
  });

  test('a program has a kernel of its own, no right in it, no network and no file outside its box', async () => {
    const { box, run } = await open();
    const { stdout } = await run(
      `uname -r; id -u; grep -E 'Cap|NoNew' /proc/self/status; cat ${root}/operator/secret /etc/shadow 2>&1;
       touch /etc/made 2>&1; mount -o remount,rw /usr 2>&1; cat /proc/net/dev; ls /proc/1/root/ 2>&1; kill -9 $$`,
    );
    expect(stdout).not.toContain(`${release()}\n`);
    expect(stdout.match(/Cap\w+:\t0{16}/g)).toHaveLength(5);
    expect(stdout).toMatch(/NoNewPrivs:\t1[\s\S]*secret: No such file[\s\S]*shadow: Permission denied/);
    expect(stdout).toMatch(/\/etc\/made.*Read-only[\s\S]*mount: .*(denied|superuser)/);
    expect(stdout.match(/^ *\w+:(?= +\d)/gm)).toEqual(['    lo:']);
    expect(stdout).not.toMatch(/of the operator|root:/);
    await box.end();
  });

  test('tells no other program its command line or variables, and ends with its box', async () => {
    const { box, tree } = await open();
    const value = `of-the-program-${process.pid}`;
    const command = ['/bin/sh', '-c', 'setsid sleep 600 & echo started; sleep 600', value] as const;
    const program = box.start({ command, env: { PATH, GIVEN: value }, cwd: tree }, 'ignore');
    await once(program.stdout, 'data');
    const pids = machinesOf(root);
    expect(pids).toHaveLength(1);
    for (const pid of pids) {
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(value);
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain(value);
    }
    await box.end();
    await until('the machine has ended', () => machinesOf(root).length === 0);
  });
});

inMachines('a program in a virtual machine with a list of hosts', () => {
  test('reaches these hosts through the proxy, and neither plain addresses nor services of the machine', async () => {
    expect(await connectionsFrom('vm', TARGETS)).toEqual(SEEN.map((line) => expect.stringMatching(line)));
  });
});

/** Processes of the emulator whose box has the folder. */
function machinesOf(folder: string): string[] {
  const pids = spawnSync('pgrep', ['qemu-system'], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(folder);
    } catch {
      return false;
    }
  });
}
