import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** What answers requests has a core of its own; Postgres and the load share the other one. */
export const CORE = { answers: 0, rest: 1 };

/** With one core, or a system without taskset, everybody runs where the system likes. */
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
