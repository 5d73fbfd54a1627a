import type { Readable } from 'node:stream';
import { deadlineSignal } from '@pipeline/runtime';
import type { ChildEnd, ContainedProcess } from './contained.ts';

export interface FinishedProgram extends ChildEnd {
  stdout: Buffer;
  /** The beginning of it. */
  stderr: string;
}

export interface ProgramLimits {
  /** Text for standard input. */
  input?: string | Buffer;
  /** Bytes of standard output; a program that writes more is killed. */
  maxBytes: number;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** A started program, however it was started. */
export type RunningProgram = Pick<
  ContainedProcess,
  'pid' | 'stdin' | 'stdout' | 'stderr' | 'ended' | 'kill' | 'stop' | 'drained'
>;

const MAX_STDERR = 64 * 1024;

/**
 * Waits for the end of a program and returns its output. @throws Error when it could not be started, writes too much or
 * takes too long, and the reason of the signal.
 */
export async function outputOf(child: RunningProgram, limits: ProgramLimits): Promise<FinishedProgram> {
  const { input = '', maxBytes, timeoutMs, signal } = limits;
  const deadline = deadlineSignal(timeoutMs);
  const stop = AbortSignal.any([deadline, ...(signal ? [signal] : [])]);
  const over = new AbortController();
  if (stop.aborted) child.kill();
  stop.addEventListener('abort', () => child.kill(), { signal: over.signal });
  const stdout = collect(child.stdout, maxBytes, () => child.kill());
  const stderr = collect(child.stderr, MAX_STDERR, () => undefined);
  child.stdin?.end(input);
  try {
    const end = await child.ended;
    await child.drained();
    signal?.throwIfAborted();
    if (deadline.aborted) throw new Error(`it took longer than ${timeoutMs} ms`);
    const [{ bytes, isWhole }, errors] = [await stdout, await stderr];
    if (!isWhole) throw new Error(`it wrote more than ${maxBytes} bytes`);
    return { ...end, stdout: bytes, stderr: errors.bytes.toString('utf8') };
  } finally {
    over.abort();
  }
}

function collect(
  stream: Readable,
  maxBytes: number,
  onTooMany: () => void,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let isWhole = true;
  stream.on('data', (chunk: Buffer) => {
    if (size + chunk.length > maxBytes) {
      if (isWhole) onTooMany();
      isWhole = false;
      return;
    }
    size += chunk.length;
    chunks.push(chunk);
  });
  return new Promise((resolve) => stream.once('close', () => resolve({ bytes: Buffer.concat(chunks), isWhole })));
}
