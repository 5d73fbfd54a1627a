import { Readable, Transform, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk/unstable';
import { type ChildEnd, type RunningProgram, splitLines } from '@pipeline/worker';

/** A longer message of an agent ends its task. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** More output ends the task: no run needs it, and each message costs memory here. */
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;
const MAX_STDERR_LINE = 16 * 1024;
const STDERR_TAIL_LINES = 20;

export interface AgentProcessOptions {
  program: RunningProgram;
  /** Milliseconds between SIGTERM, where the program can receive it, and SIGKILL. */
  graceMs: number;
  onStderr(line: string): void;
}

/** The process of an agent, with its messages as a stream. */
export class AgentProcess {
  readonly messages: ReturnType<typeof ndJsonStream>;
  /** Settles when the process has ended or could not be started. */
  readonly ended: Promise<void>;
  readonly #program: RunningProgram;
  readonly #options: AgentProcessOptions;
  #end: string | null = null;
  #tail: string[] = [];

  constructor(options: AgentProcessOptions) {
    this.#options = options;
    const { program } = options;
    this.#program = program;
    this.ended = program.ended
      .then(describeEnd, (error: Error) => `the agent could not be started: ${error.message}`)
      .then((end) => {
        this.#end ??= end;
      });
    const stderr = splitLines(
      { onLine: (line) => this.#stderrLine(line), onTooLong: (start) => this.#stderrLine(start) },
      MAX_STDERR_LINE,
    );
    program.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    const bounded = program.stdout.pipe(outputLimit(() => this.#flooded()));
    const input = toWebWritable(program.stdin as Writable);
    this.messages = ndJsonStream(input, Readable.toWeb(bounded) as ReadableStream<Uint8Array>, {
      maxMessageBytes: MAX_MESSAGE_BYTES,
    });
  }

  /** Describes the end of the process with the last lines of stderr; null while it runs. */
  get end(): string | null {
    if (this.#end === null) return null;
    return [this.#end, ...this.#tail].join('\n');
  }

  /** Ends the agent and waits for its end. */
  async stop(): Promise<void> {
    await this.#program.stop(this.#options.graceMs);
    await this.ended;
    await this.#program.drained();
  }

  #flooded(): void {
    this.#end = `the agent was stopped: it wrote more than ${MAX_OUTPUT_BYTES} bytes`;
    this.#program.kill();
  }

  #stderrLine(line: string): void {
    this.#tail = [...this.#tail, line].slice(-STDERR_TAIL_LINES);
    this.#options.onStderr(line);
  }
}

const describeEnd = ({ exitCode, signal }: ChildEnd): string =>
  signal === null ? `the agent exited with code ${exitCode}` : `the agent was ended by ${signal}`;

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
