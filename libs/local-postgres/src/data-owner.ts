import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'owner';

/** Z: dead, and its parent has not looked yet. X: its parent has looked, and the kernel is removing it. */
const DEAD_STATES: readonly string[] = ['Z', 'X'];

/** Identifies a process beyond its death: the pid alone may be given to another one. Null = not running. */
export async function processIdentity(pid: number): Promise<string | null> {
  // Read before the signal: what ends in between has no stat, and is then found to be gone.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return isSignallable(pid) ? identityIn(stat, pid) : null;
}

/** The pid with the start time of its stat; the pid alone where the system has no `/proc`; null for a dead process. */
export function identityIn(stat: string, pid: number): string | null {
  // After the second field, in parentheses, which may hold anything: the state, and 19 fields later the start time.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return DEAD_STATES.includes(state) ? null : `${pid} ${fields[18] ?? ''}`.trim();
}

function isSignallable(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * The process noted as owner of a data folder: its pid and whether it lives. Null = no process has taken the folder.
 */
export async function dataOwner(dataDir: string): Promise<{ pid: number; alive: boolean } | null> {
  const noted = (await readFile(join(dataDir, FILE), 'utf8').catch(() => '')).trim();
  const pid = Number(noted.split(' ')[0]);
  return pid > 0 ? { pid, alive: (await processIdentity(pid)) === noted } : null;
}

/**
 * Notes that this process uses the data folder.
 * @throws Error naming the process when another living one does.
 */
export async function takeData(dataDir: string): Promise<void> {
  const owner = await dataOwner(dataDir);
  if (owner?.alive && owner.pid !== process.pid) {
    throw new Error(`${dataDir} is in use by process ${owner.pid}: stop that process or choose another folder`);
  }
  await writeFile(join(dataDir, FILE), `${await processIdentity(process.pid)}\n`);
}

export const releaseData = (dataDir: string): Promise<void> => rm(join(dataDir, FILE), { force: true });
