import { readdirSync, readFileSync } from 'node:fs';

/** One measurement of one contender. */
export interface Sample {
  /** In the unit of its case. */
  value: number;
  /** Per item; null where unknown or beside the point. */
  cpu: Cpu | null;
}

/** Linux counts in hundredths of a second, whatever its timer does. */
const TICK_US = 10_000;

/** Microseconds of CPU by where they were spent. */
export interface Cpu {
  /** This process: load, and contenders that run in it. */
  self: number;
  /** Processes that this one started. */
  services: number;
  postgres: number;
}

interface Stat {
  parent: number;
  /** CPU of the process and of its children that ended, in microseconds. */
  us: number;
}

/**
 * CPU used until now. Null where there is no /proc. Reads everything at once, so that nothing else runs between the
 * reading and the clock beside it.
 * @param postmaster is no child of ours; its descendants are counted with it.
 */
export function readCpu(postmaster: number): Cpu | null {
  const stats = readStats();
  if (stats.size === 0) return null;
  const cpu: Cpu = { self: 0, services: 0, postgres: 0 };
  for (const [pid, { us }] of stats) {
    if (pid === process.pid) cpu.self += us;
    else if (pid === postmaster || isBelow(stats, pid, postmaster)) cpu.postgres += us;
    else if (isBelow(stats, pid, process.pid)) cpu.services += us;
  }
  return cpu;
}

/** Microseconds of CPU that a process and its descendants have used; 0 where there is no /proc. */
export function cpuOfTree(root: number): number {
  const stats = readStats();
  let us = 0;
  for (const [pid, stat] of stats) if (pid === root || isBelow(stats, pid, root)) us += stat.us;
  return us;
}

function isBelow(stats: ReadonlyMap<number, Stat>, pid: number, root: number): boolean {
  const parent = stats.get(pid)?.parent ?? 0;
  return parent === root || (parent > 0 && isBelow(stats, parent, root));
}

export const totalOf = ({ self, services, postgres }: Cpu): number => self + services + postgres;

/** What was spent between two readings, divided among `items`. */
export const cpuBetween = (before: Cpu, after: Cpu, items: number): Cpu => ({
  self: (after.self - before.self) / items,
  services: (after.services - before.services) / items,
  postgres: (after.postgres - before.postgres) / items,
});

function readStats(): Map<number, Stat> {
  const stats = new Map<number, Stat>();
  for (const name of processFolders()) {
    const stat = readStat(name);
    if (stat) stats.set(Number(name), stat);
  }
  return stats;
}

function processFolders(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Fields of proc(5), counted behind the name, which may hold spaces and brackets. Undefined = it has just ended. */
function readStat(pid: string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const at = (field: number) => Number(fields[field]);
    return { parent: at(1), us: (at(11) + at(12) + at(13) + at(14)) * TICK_US };
  } catch {
    return undefined;
  }
}
