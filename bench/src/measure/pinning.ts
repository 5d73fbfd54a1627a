import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Cores of a run. The process that answers requests has one of its own; Postgres and the load share the other one. */
export const CORE = { answers: 0, rest: 1 };

/** Returns whether processes are pinned: with one core, or without taskset, the system places them. */
const canPin = process.platform === 'linux' && availableParallelism() > 1;

/** A program and its arguments, to be started on one core. */
export const onCore = (core: number, program: string, args: readonly string[]): [string, string[]] =>
  canPin ? ['taskset', ['-c', `${core}`, program, ...args]] : [program, [...args]];

/** Keeps a process, its threads and the children that it will have on one core. @returns ends it, for it and later children. */
export function pin(pid: number, core: number): () => void {
  const keep = (cores: string) => {
    if (canPin) execFileSync('taskset', ['-acp', cores, `${pid}`], { stdio: 'ignore' });
  };
  keep(`${core}`);
  return () => keep(`0-${availableParallelism() - 1}`);
}
