import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { processStarter, type RunAs } from '@pipeline/worker';
import { findProgram } from '../agents/problems.ts';
import { type BubblewrapOptions, bubblewrap } from './bubblewrap.ts';
import { ProcessBox, type Sandbox } from './sandbox.ts';
import { type Accel, EMULATOR, type Machines } from './vm.ts';

export const SANDBOXES = ['auto', 'bubblewrap', 'vm', 'none'] as const;
export type SandboxChoice = (typeof SANDBOXES)[number];

/** Returns the sandbox that confines nothing. Nothing of a task outlives it where the machine has process namespaces. */
export function noSandbox(user: RunAs | null): Sandbox {
  const { launch, isNamespace } = processStarter(user);
  return { name: 'none', user, isConfined: false, isNamespace, open: () => new ProcessBox(launch) };
}

/** User of confined programs where the worker is root and no other user is named. */
const NOBODY: RunAs = { name: 'nobody', uid: 65_534, gid: 65_534, home: '/nonexistent' };
const START_WITHIN_MS = 20_000;
/** An emulated machine starts in some ten seconds, on a busy one in more. */
const EMULATED_WITHIN_MS = 120_000;

export interface SandboxOptions extends Omit<BubblewrapOptions, 'program' | 'machines'> {
  /** Folder of the image of virtual machines, and how they run. */
  vm: { image: string; accel: Accel };
}

/**
 * Returns the sandbox of this choice; `auto` is bubblewrap, for virtual machines need an image. Confined programs never
 * run as root. @throws Error when the sandbox cannot start: without one, programs run only if `none` is written.
 */
export async function chooseSandbox(choice: SandboxChoice, options: SandboxOptions): Promise<Sandbox> {
  if (choice === 'none') return noSandbox(options.user);
  const found = await startable(options, choice === 'vm');
  if (typeof found !== 'string') return found;
  const without = 'Where agents may do all that their user may, write --sandbox none.';
  throw new Error(`--sandbox ${choice}: ${found}. ${without}`);
}

/** Returns the sandbox, or why it cannot be used. */
async function startable({ vm, ...options }: SandboxOptions, inMachines: boolean): Promise<Sandbox | string> {
  const program = findProgram('bwrap', options.path);
  if (program === null) return 'bubblewrap needs the program bwrap: apt-get install bubblewrap';
  const machines = inMachines ? machinesOf(vm, options.path) : null;
  if (typeof machines === 'string') return machines;
  const user = options.user ?? (process.getuid?.() === 0 ? NOBODY : null);
  const sandbox = bubblewrap({ ...options, program, user, machines });
  const timeoutMs = machines?.accel === 'tcg' ? EMULATED_WITHIN_MS : START_WITHIN_MS;
  const { exitCode, stderr } = await sandbox
    .open({ writable: [], readable: [], network: false })
    .run({ command: ['true'], env: { PATH: '/usr/bin:/bin' }, cwd: '/' }, { maxBytes: 1_000, timeoutMs });
  return exitCode === 0 ? sandbox : `${sandbox.name} cannot start a program on this machine: ${stderr.trim()}`;
}

/** Returns the machines, or what they need. */
function machinesOf({ image, accel }: SandboxOptions['vm'], path: string): Machines | string {
  const emulator = EMULATOR[process.arch];
  if (emulator === undefined) return `vm does not exist for ${process.arch}`;
  const program = findProgram(emulator, path);
  if (program === null) return `vm needs the program ${emulator}: apt-get install qemu-system-x86`;
  const missing = ['kernel', 'initrd'].find((name) => !existsSync(join(image, name)));
  if (missing !== undefined) return `vm needs ${join(image, missing)}: make it with deploy/agent/make-vm-image.sh`;
  if (accel === 'kvm' && !existsSync('/dev/kvm'))
    return 'vm needs /dev/kvm, which this machine lacks; --vm-accel tcg emulates the processor';
  return { program, image, accel };
}
