import { readFileSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { median } from './verdict.ts';

export interface Machine {
  cpu: string;
  cores: number;
  memoryGib: number;
  kernel: string;
  node: string;
  postgres: string;
  /** Over one minute, before the first sample. */
  load: number;
  /** Median of 8 KiB written and flushed, in ms, on the disk of the database. */
  fdatasyncMs: number;
}

export async function describeMachine(postgres: string, folder: string): Promise<Machine> {
  const all = cpus();
  return {
    cpu: all[0]?.model ?? 'unknown',
    cores: all.length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
    postgres,
    load: loadavg()[0] ?? 0,
    fdatasyncMs: await measureFlush(folder),
  };
}

export const machineLine = (machine: Machine): string =>
  `${machine.cores} x ${machine.cpu}, ${machine.memoryGib} GiB, kernel ${machine.kernel}, Node ${machine.node}, ` +
  `PostgreSQL ${machine.postgres}, load ${machine.load.toFixed(2)}, fdatasync ${machine.fdatasyncMs.toFixed(2)} ms`;

async function measureFlush(folder: string): Promise<number> {
  const own = await mkdtemp(join(folder, 'flush-'));
  const file = await open(join(own, 'file'), 'w');
  try {
    const block = Buffer.alloc(8192, 1);
    const times: number[] = [];
    for (let round = 0; round < 100; round += 1) {
      const began = performance.now();
      await file.write(block, 0, block.length, round * block.length);
      await file.datasync();
      times.push(performance.now() - began);
    }
    return median(times);
  } finally {
    await file.close();
    await rm(own, { recursive: true });
  }
}

/** Starts to count. @returns asks for the share of CPU time that the host gave to others since; null where it is unknown. */
export function stealShare(): () => number | null {
  const before = cpuCounters();
  return () => {
    const after = cpuCounters();
    return before && after ? (after.steal - before.steal) / (after.total - before.total) : null;
  };
}

function cpuCounters(): { steal: number; total: number } | null {
  try {
    const line = readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '';
    const fields = line.trim().split(/\s+/).slice(1, 9).map(Number);
    return { steal: fields[7] ?? 0, total: fields.reduce((sum, n) => sum + n, 0) };
  } catch {
    return null;
  }
}
