import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever its timer does. */
const TICK_US = 10_000;

interface ProcessCpu {
  parent: number;
  /** CPU of the process and of its children that ended, in microseconds. */
  us: number;
}

/** All processes by pid, read at once; empty where there is no /proc. */
export function readProcesses(): Map<number, ProcessCpu> {
  const processes = new Map<number, ProcessCpu>();
  for (const name of processFolders()) {
    const read = readProcess(name);
    if (read) processes.set(Number(name), read);
  }
  return processes;
}

/** Microseconds of CPU that a process and its descendants have used; 0 where there is no /proc. */
export function cpuOfTree(root: number): number {
  const processes = readProcesses();
  let total = 0;
  for (const [pid, { us }] of processes) if (pid === root || isBelow(processes, pid, root)) total += us;
  return total;
}

/** Returns whether a process descends from another one. */
export function isBelow(processes: ReadonlyMap<number, ProcessCpu>, pid: number, root: number): boolean {
  const parent = processes.get(pid)?.parent ?? 0;
  return parent === root || (parent > 0 && isBelow(processes, parent, root));
}

function processFolders(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Fields of proc(5), counted behind the name, which may hold spaces and brackets. Undefined = it has just ended. */
function readProcess(pid: string): ProcessCpu | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const at = (field: number) => Number(fields[field]);
    return { parent: at(1), us: (at(11) + at(12) + at(13) + at(14)) * TICK_US };
  } catch {
    return undefined;
  }
}
