import { isBelow, readProcesses } from '@pipeline/testing/process-cpu';
import { processesOf } from './processes.ts';

/**
 * Ends what a check has started on SIGINT and SIGTERM: a terminal signals all processes, a CI runner this one alone.
 * Postgres is no descendant of it, but names its folder. The folders stay, as those of a failed check.
 */
export function endWithChecks(folderOf: () => string | null): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      const processes = readProcesses();
      const descendants = [...processes.keys()].filter((pid) => isBelow(processes, pid, process.pid));
      const folder = folderOf();
      const others = folder === null ? [] : processesOf(folder).map(({ pid }) => pid);
      for (const pid of new Set([...descendants, ...others])) end(pid);
      // Without this listener the signal ends the process.
      process.kill(process.pid, signal);
    });
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
