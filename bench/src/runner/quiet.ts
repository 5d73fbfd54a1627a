import { cpus } from 'node:os';
import { sleep } from '@pipeline/runtime';

const WINDOW_MS = 250;
const PATIENCE_MS = 3_000;
const IDLE_SHARE = 0.9;

/** Waits until the machine was nine tenths idle for a quarter of a second; for a limited time, because it may be shared. */
export async function waitForQuiet(): Promise<boolean> {
  for (let waited = 0; waited < PATIENCE_MS; waited += WINDOW_MS) {
    const before = times();
    await sleep(WINDOW_MS);
    const after = times();
    if ((after.idle - before.idle) / (after.total - before.total) >= IDLE_SHARE) return true;
  }
  return false;
}

function times(): { idle: number; total: number } {
  const all = cpus().map((cpu) => cpu.times);
  const idle = all.reduce((sum, cpu) => sum + cpu.idle, 0);
  return { idle, total: all.reduce((sum, cpu) => sum + cpu.user + cpu.nice + cpu.sys + cpu.irq + cpu.idle, 0) };
}
