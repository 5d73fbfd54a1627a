import { type ChildEnd, ContainedProcess } from './contained.ts';
import type { ProcessStarter } from './process-namespace.ts';

export interface ChildOptions {
  /** Starts programs as the user of the task. */
  starter: ProcessStarter;
  command: string;
  cwd: string;
  env: Record<string, string>;
  stdin: string;
  onStdout(chunk: Buffer): void;
  onStderr(chunk: Buffer): void;
  /** Aborts the child and all its children. */
  signal: AbortSignal;
  /** Milliseconds between SIGTERM and SIGKILL. */
  graceMs: number;
}

/**
 * Runs a shell command and ends all processes that it has started, see `processStarter`.
 * Settles when the command has exited and its output has been read. @throws Error when it cannot be started.
 */
export async function runChild(options: ChildOptions): Promise<ChildEnd> {
  const { starter, command, cwd, env, signal, graceMs } = options;
  const child = new ContainedProcess(starter.launch({ command: ['/bin/sh', '-c', command], env, cwd }), 'pipe');
  child.stdout.on('data', options.onStdout);
  child.stderr.on('data', options.onStderr);
  child.stdin?.end(options.stdin);
  const over = new AbortController();
  const stop = () => void child.stop(graceMs);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { signal: over.signal });
  try {
    const end = await child.ended;
    await child.drained();
    return end;
  } finally {
    over.abort();
  }
}
