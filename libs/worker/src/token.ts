import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Turns off the inspector that any process of the same user can start with SIGUSR1. */
const NO_INSPECTOR = '--disable-sigusr1';

/** Reads the token from an inherited descriptor and closes it, so that no program inherits it. */
export function tokenFromFd(fd: number): string {
  const token = readFileSync(fd, 'utf8').trim();
  closeSync(fd);
  // Closing frees the lowest number; the next opened file must not become standard input.
  if (fd === 0) openSync('/dev/null', 'r');
  return token;
}

export interface Hidden {
  /** Environment without the token. */
  env: Record<string, string>;
  token: string;
}

/** Returns whether the process was started by `restartHidden`. */
export const isHidden = (): boolean => process.execArgv.includes(NO_INSPECTOR);

/**
 * Replaces this process by a new one with the same id whose environment block never contained the token, because a deleted
 * variable stays readable in /proc/PID/environ. Passes the token over descriptor 0, from an unlinked file. Returns only on
 * platforms where a process cannot be replaced (Windows).
 */
export function restartHidden({ env, token }: Hidden): void {
  if (process.execve === undefined) return;
  const folder = mkdtempSync(join(tmpdir(), 'pipeline-worker-'));
  try {
    const path = join(folder, 'token');
    writeFileSync(path, token, { mode: 0o600 });
    closeSync(0);
    openSync(path, 'r');
  } finally {
    rmSync(folder, { recursive: true });
  }
  const argv = [NO_INSPECTOR, ...process.execArgv, ...process.argv.slice(1), '--token-fd', '0'];
  process.execve(process.execPath, [process.execPath, ...argv], env);
}
