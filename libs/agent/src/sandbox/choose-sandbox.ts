import { processStarter, type RunAs } from '@pipeline/worker';
import { findProgram } from '../agents/problems.ts';
import { type BubblewrapOptions, bubblewrap } from './bubblewrap.ts';
import { ProcessBox, type Sandbox } from './sandbox.ts';

export const SANDBOXES = ['auto', 'bubblewrap', 'none'] as const;
export type SandboxChoice = (typeof SANDBOXES)[number];

/** Returns the sandbox that confines nothing. Nothing of a task outlives it where the machine has process namespaces. */
export function noSandbox(user: RunAs | null): Sandbox {
  const { launch, isNamespace } = processStarter(user);
  return { name: 'none', user, isConfined: false, isNamespace, open: () => new ProcessBox(launch) };
}

/** User of confined programs where the worker is root and no other user is named. */
const NOBODY: RunAs = { name: 'nobody', uid: 65_534, gid: 65_534, home: '/nonexistent' };
const START_WITHIN_MS = 20_000;

/**
 * Returns the sandbox of this choice; `auto` is the strongest one of the machine, which is bubblewrap. Confined programs never
 * run as root. @throws Error when the sandbox cannot start: without one, programs run only if `none` is written.
 */
export async function chooseSandbox(
  choice: SandboxChoice,
  options: Omit<BubblewrapOptions, 'program'>,
): Promise<Sandbox> {
  if (choice === 'none') return noSandbox(options.user);
  const found = await startable(options);
  if (typeof found !== 'string') return found;
  const without = 'Where agents may do all that their user may, write --sandbox none.';
  throw new Error(`--sandbox ${choice}: bubblewrap ${found}. ${without}`);
}

/** Returns the sandbox, or why it cannot be used. */
async function startable(options: Omit<BubblewrapOptions, 'program'>): Promise<Sandbox | string> {
  const program = findProgram('bwrap', options.path);
  if (program === null) return 'needs the program bwrap: apt-get install bubblewrap';
  const user = options.user ?? (process.getuid?.() === 0 ? NOBODY : null);
  const sandbox = bubblewrap({ ...options, program, user });
  const limits = { maxBytes: 1_000, timeoutMs: START_WITHIN_MS };
  const { exitCode, stderr } = await sandbox
    .open({ writable: [], readable: [], network: false })
    .run({ command: ['true'], env: { PATH: '/usr/bin:/bin' }, cwd: '/' }, limits);
  return exitCode === 0 ? sandbox : `cannot start a program on this machine: ${stderr.trim()}`;
}
