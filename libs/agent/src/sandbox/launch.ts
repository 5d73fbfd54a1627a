import { type ChildProcessByStdio, type StdioOptions, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { type RunAs, spawnAs } from '@pipeline/worker';
import type { Launch } from './sandbox.ts';

export interface LaunchOptions {
  cwd: string;
  /** null = user of this process. */
  user: RunAs | null;
  stdin: 'pipe' | 'ignore';
}

/** Starts a program of a task as the leader of a process group of its own. */
export function launch({ command: [program, ...args], env, input }: Launch, { cwd, user, stdin }: LaunchOptions) {
  const stdio: StdioOptions = [stdin, 'pipe', 'pipe', ...(input === null ? [] : ['pipe' as const])];
  const child = spawn(program, args, { cwd, env: { ...env }, detached: true, stdio, ...spawnAs(user) });
  if (input !== null) {
    const options = child.stdio[3] as Writable | undefined;
    // A confiner that could not be started reads nothing; the end of the process reports it.
    options?.on('error', () => undefined).end(input);
  }
  return child as ChildProcessByStdio<Writable | null, Readable, Readable>;
}
