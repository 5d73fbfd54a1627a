import { isBelow, readProcesses } from '@pipeline/testing/process-cpu';

/** One measurement of one contender. */
export interface Sample {
  /** Measured value in the unit of its case. */
  value: number;
  /** Per item; null where unknown or beside the point. */
  cpu: Cpu | null;
}

/** Microseconds of CPU by where they were spent. */
export interface Cpu {
  /** This process: load, and contenders that run in it. */
  self: number;
  /** Processes that this one started. */
  services: number;
  postgres: number;
}

/**
 * CPU used until now. Null where there is no /proc. Reads everything at once, so that nothing else runs between the
 * reading and the clock beside it.
 * @param postmaster is no child of ours; its descendants are counted with it.
 */
export function readCpu(postmaster: number): Cpu | null {
  const processes = readProcesses();
  if (processes.size === 0) return null;
  const cpu: Cpu = { self: 0, services: 0, postgres: 0 };
  for (const [pid, { us }] of processes) {
    if (pid === process.pid) cpu.self += us;
    else if (pid === postmaster || isBelow(processes, pid, postmaster)) cpu.postgres += us;
    else if (isBelow(processes, pid, process.pid)) cpu.services += us;
  }
  return cpu;
}

export const totalOf = ({ self, services, postgres }: Cpu): number => self + services + postgres;

/** Computes the CPU time spent between two readings, divided among `items`. */
export const cpuBetween = (before: Cpu, after: Cpu, items: number): Cpu => ({
  self: (after.self - before.self) / items,
  services: (after.services - before.services) / items,
  postgres: (after.postgres - before.postgres) / items,
});
