import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processIdentity } from '@pipeline/local-postgres';
import { readProcesses } from '../src/supervision/process-list.ts';
import type { StoreView } from './store-view.ts';

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const left = [...items];
  const result: T[] = [];
  while (left.length > 0) result.push(...left.splice(Math.floor(random() * left.length), 1));
  return result;
}

/** Whatever the product consists of on this machine: the children of the stack, and Postgres's own processes. */
export const VICTIMS = [
  'demo-worker-1',
  'demo-worker-2',
  'demo-people',
  'hosted-api',
  'monitor',
  'sandbox',
  'postgres',
  'the Postgres server',
  'a connection of Postgres',
] as const;
export type Victim = (typeof VICTIMS)[number];

/** kill -9. @returns false when there was nothing to kill at that moment. */
export async function kill(victim: Victim, dataDir: string, store: StoreView): Promise<boolean> {
  const pid = await pidOf(victim, dataDir, store);
  if (pid === null) return false;
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}

/** The children of the stack that do not run at this moment. */
export async function stoppedOf(dataDir: string): Promise<string[]> {
  const stopped = [];
  for (const [name, { pid, identity }] of Object.entries(readProcesses(dataDir))) {
    if ((await processIdentity(pid)) !== identity) stopped.push(name);
  }
  return stopped;
}

async function pidOf(victim: Victim, dataDir: string, store: StoreView): Promise<number | null> {
  if (victim === 'the Postgres server') {
    const file = join(dataDir, 'postgres/cluster/postmaster.pid');
    return Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]) || null;
  }
  if (victim === 'a connection of Postgres') {
    const rows = await store
      .rows<{ pid: number }>(
        "select pid from pg_stat_activity where application_name in ('monitor', 'hosted-api') limit 1",
      )
      .catch(() => []);
    return rows[0]?.pid ?? null;
  }
  return readProcesses(dataDir)[victim]?.pid ?? null;
}
