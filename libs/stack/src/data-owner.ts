import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'owner';

/** Identifies a process beyond its death: the pid alone may be given to another one. Null = not running. */
async function identity(pid: number): Promise<string | null> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return null;
  }
  // Field 22 is the start time; the second field, in parentheses, may hold anything.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''}`.trim();
}

/**
 * Notes that this process uses the data folder.
 * @throws Error naming the process when another living one does.
 */
export async function takeData(dataDir: string): Promise<void> {
  const file = join(dataDir, FILE);
  const noted = (await readFile(file, 'utf8').catch(() => '')).trim();
  const pid = Number(noted.split(' ')[0]);
  if (pid > 0 && pid !== process.pid && (await identity(pid)) === noted) {
    throw new Error(`${dataDir} is in use by process ${pid}: stop that one, or choose another folder`);
  }
  await writeFile(file, `${await identity(process.pid)}\n`);
}

export const releaseData = (dataDir: string): Promise<void> => rm(join(dataDir, FILE), { force: true });
