import { open } from 'node:fs/promises';

const MAX_DIGITS = 20;

/** The ids of processes that this one must not end, and how a signal is sent; `process` is one. */
export interface Processes {
  readonly pid: number;
  readonly ppid: number;
  kill(pid: number, signal: NodeJS.Signals | 0): boolean;
}

/**
 * Asks the process that a pid file names to end (SIGTERM); what supervises it starts it again.
 * @throws Error that names what is wrong with the file or the process; then no signal was sent.
 */
export async function restartByPid(pidFile: string, processes: Processes): Promise<void> {
  const pid = await readPid(pidFile);
  if (pid === 1) throw new Error(`${pidFile} contains process id 1, the init process of the machine or container`);
  if (pid === processes.pid || pid === processes.ppid) {
    throw new Error(`${pidFile} contains process id ${pid}, which is the monitor or its parent process`);
  }
  try {
    processes.kill(pid, 0);
    processes.kill(pid, 'SIGTERM');
  } catch (cause) {
    throw new Error(`process ${pid} of ${pidFile} ${whyNot((cause as NodeJS.ErrnoException).code)}`, { cause });
  }
}

async function readPid(pidFile: string): Promise<number> {
  const file = await open(pidFile, 'r').catch((cause: unknown) => {
    throw new Error(`${pidFile} cannot be read: ${(cause as Error).message}`, { cause });
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_DIGITS + 1), 0, MAX_DIGITS + 1, 0);
    const text = buffer.toString('latin1', 0, bytesRead).trim();
    // 0 and negative numbers would address whole groups of processes.
    const pid = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
    if (pid < 2 ** 31) return pid;
    throw new Error(`${pidFile} must contain a process id, got ${JSON.stringify(text)}`);
  } finally {
    await file.close();
  }
}

function whyNot(code: string | undefined): string {
  if (code === 'ESRCH') return 'does not run';
  if (code === 'EPERM') return 'belongs to another user, and may not be signalled by this one';
  return `cannot be signalled (${code})`;
}
