import { readFileSync } from 'node:fs';

/** Resident memory of a process in MiB; NaN where there is no /proc. */
export function residentMib(pid: number): number {
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kib) / 1024;
  } catch {
    return Number.NaN;
  }
}
