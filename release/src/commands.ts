import { execFileSync } from 'node:child_process';

/**
 * Runs a command and returns its output without the last line break.
 * @throws Error with what it wrote to standard error.
 */
export function output(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): string {
  try {
    return execFileSync(command, args, {
      cwd,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    }).trimEnd();
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Error(`${command} ${args.join(' ')}: ${stderr?.trim() || message}`, { cause: error });
  }
}

export const git = (root: string, ...args: string[]): string => output(root, 'git', args);

/** Runs a program of this repository under this Node. */
export const node = (root: string, ...args: string[]): string =>
  output(root, process.execPath, ['--disable-warning=ExperimentalWarning', ...args]);

/** Returns true if the command ends with status 0. */
export function succeeds(root: string, command: string, args: readonly string[]): boolean {
  try {
    output(root, command, args);
    return true;
  } catch {
    return false;
  }
}
