import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { Readable, type Stream, Transform, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk/unstable';
import { withDeadline } from '@pipeline/runtime';
import { killGroup, killOnSignal, type RunAs, splitLines } from '@pipeline/worker';
import { launch } from '../sandbox/launch.ts';
import type { Launch } from '../sandbox/sandbox.ts';

/** A longer message of an agent ends its task. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** More output ends the task: no run needs it, and each message costs memory here. */
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;
const MAX_STDERR_LINE = 16 * 1024;
const STDERR_TAIL_LINES = 20;
const CLOSED_WITHIN_MS = 1_000;

export interface AgentProcessOptions {
  launch: Launch;
  cwd: string;
  /** null = user of this process. */
  user: RunAs | null;
  /** Milliseconds between SIGTERM and SIGKILL. */
  graceMs: number;
  onStderr(line: string): void;
}

/** The process of an agent, leader of a process group of its own, with its messages as a stream. */
export class AgentProcess {
  readonly messages: ReturnType<typeof ndJsonStream>;
  /** Settles when the process has ended or could not be started. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #options: AgentProcessOptions;
  #end: string | null = null;
  #tail: string[] = [];

  constructor(options: AgentProcessOptions) {
    this.#options = options;
    const { cwd, user } = options;
    const child = launch(options.launch, { cwd, user, stdin: 'pipe' }) as ChildProcessByStdio<
      Writable,
      Readable,
      Readable
    >;
    this.#child = child;
    this.ended = endOf(child).then((end) => {
      this.#end ??= end;
      killGroup(child.pid, 'SIGKILL');
    });
    const stderr = splitLines(
      { onLine: (line) => this.#stderrLine(line), onTooLong: (start) => this.#stderrLine(start) },
      MAX_STDERR_LINE,
    );
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.stdin.on('error', () => undefined);
    const bounded = child.stdout.pipe(outputLimit(() => this.#flooded()));
    this.messages = ndJsonStream(toWebWritable(child.stdin), Readable.toWeb(bounded) as ReadableStream<Uint8Array>, {
      maxMessageBytes: MAX_MESSAGE_BYTES,
    });
  }

  /** Describes the end of the process with the last lines of stderr; null while it runs. */
  get end(): string | null {
    if (this.#end === null) return null;
    return [this.#end, ...this.#tail].join('\n');
  }

  /** Stops the process group: SIGTERM, then SIGKILL after the grace time. */
  async stop(): Promise<void> {
    const over = new AbortController();
    const killed = killOnSignal(this.#child.pid, AbortSignal.abort(), this.#options.graceMs, over.signal);
    await this.ended;
    over.abort();
    await killed;
    const streams: Stream[] = [this.#child.stdout, this.#child.stderr];
    await withDeadline(Promise.all(streams.map(closed)), CLOSED_WITHIN_MS, 'reading the output').catch(() => {
      this.#child.stdout.destroy();
      this.#child.stderr.destroy();
    });
  }

  #flooded(): void {
    this.#end = `the agent was stopped: it wrote more than ${MAX_OUTPUT_BYTES} bytes`;
    killGroup(this.#child.pid, 'SIGKILL');
  }

  #stderrLine(line: string): void {
    this.#tail = [...this.#tail, line].slice(-STDERR_TAIL_LINES);
    this.#options.onStderr(line);
  }
}

function endOf(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`the agent could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `the agent exited with code ${code}` : `the agent was ended by ${signal}`),
    );
  });
}

const closed = async (stream: Stream): Promise<void> => {
  if (!(stream as Readable).closed) await once(stream, 'close');
};

function outputLimit(onExceeded: () => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) onExceeded();
      done(null, bytes > MAX_OUTPUT_BYTES ? undefined : chunk);
    },
  });
}

const toWebWritable = (stream: Writable): WritableStream<Uint8Array> =>
  Writable.toWeb(stream) as WritableStream<Uint8Array>;
