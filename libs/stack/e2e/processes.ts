import { readdirSync, readFileSync } from 'node:fs';

/** Processes whose command line or environment names the folder: whatever a stack on it has started. Linux only. */
export function processesOf(dataDir: string): { pid: number; command: string }[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // A zombie has no command line; it runs no more.
      if (command === '') return [];
      const known = `${command} ${readFileSync(`/proc/${pid}/environ`, 'utf8')}`;
      return known.includes(dataDir) ? [{ pid: Number(pid), command: command.slice(0, 120) }] : [];
    } catch {
      return [];
    }
  });
}
