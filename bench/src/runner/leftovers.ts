import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isBelow, readProcesses } from '@pipeline/testing/process-cpu';

const SERVERS_END_WITHIN_MS = 5_000;
const POLL_MS = 20;

/**
 * Kills what must not outlive the run: all descendants of this process, and every Postgres whose cluster is in one of the
 * folders. A Postgres is a daemon, so it is no descendant. Synchronous, because it also runs while the process exits.
 * Returns when the servers have ended, after five seconds at the latest.
 */
export function killLeftovers(folders: readonly string[]): void {
  const processes = readProcesses();
  const descendants = [...processes.keys()].filter((pid) => isBelow(processes, pid, process.pid));
  for (const pid of descendants) signal(pid, 'SIGKILL');
  // SIGQUIT is an immediate shutdown: the postmaster ends its own processes.
  const servers = folders.flatMap(postmastersIn).filter((pid) => signal(pid, 'SIGQUIT'));
  const deadline = performance.now() + SERVERS_END_WITHIN_MS;
  while (servers.some((pid) => signal(pid, 0)) && performance.now() < deadline) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
}

function postmastersIn(folder: string): number[] {
  return globSync('**/postmaster.pid', { cwd: folder }).flatMap((path) => {
    const file = join(folder, path);
    const pid = Number(textOf(file).split('\n')[0]);
    // The pid of an old file may belong to another program by now.
    return pid > 0 && textOf(`/proc/${pid}/cmdline`).includes(dirname(file)) ? [pid] : [];
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false; // it has just ended
  }
}
