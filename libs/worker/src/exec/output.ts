import type { Logger } from '@pipeline/runtime';
import type { RunRecord } from '../tasks/recorder.ts';
import { type AgentRecord, parseLine } from '../tasks/records.ts';
import type { VerdictRecord } from '../tasks/verdict.ts';

const NEWLINE = 0x0a;

interface LineHandlers {
  onLine(line: string): void;
  /** A line above the limit; `start` is its retained beginning. */
  onTooLong(start: string, bytes: number): void;
}

/** Splits a byte stream into lines, buffering at most the limit. */
export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Text after the last newline is a line, too. */
  end(): void;
}

const MAX_LINE_BYTES = 1024 * 1024;
const KEPT_OF_TOO_LONG = 1_000;

const MAX_STDERR_LINE = 64 * 1024;
const STDERR_TAIL_LINES = 20;
/** Maximum plain output stored as messages of a run: sufficient for diagnosis, limited to protect the store. */
const MAX_KEPT_LINES = 2_000;
const MAX_KEPT_CHARS = 1_000_000;

const CODE_MAP = /"type"\s*:\s*"code-map"/;

type LogRecord = Extract<AgentRecord, { type: 'log' }>;

/** Parses the output of a program: forwards records, retains the outcome, stores other lines as log messages. */
export class ProgramOutput {
  readonly stdout: LineSplitter;
  readonly stderr: LineSplitter;
  /** The last outcome or failure, and its problem if it is invalid. */
  printed: VerdictRecord | null = null;
  invalid: string | null = null;
  /** True = the program printed code-map lines. */
  mapped = false;
  /** Set when a code-map line was lost; the rest is not a valid map. */
  brokenMap: string | null = null;
  readonly #record: (record: RunRecord) => void;
  readonly #log: Logger | null;
  #plain: string[] = [];
  #tail: string[] = [];
  #keptLines = 0;
  #keptChars = 0;
  #full = false;

  /** @param secret redacted from everything that is stored. */
  constructor(record: (record: RunRecord) => void, log: Logger | null, secret?: string) {
    this.#record = record;
    this.#log = log;
    const hide = (text: string) => (secret === undefined ? text : text.replaceAll(secret, '[redacted]'));
    this.stdout = splitLines({
      onLine: (line) => this.#stdoutLine(hide(line)),
      onTooLong: (start, bytes) => {
        if (CODE_MAP.test(start)) this.brokenMap ??= `a code-map line of ${bytes} bytes is too long`;
        this.#keep(`${hide(start)}… (line of ${bytes} bytes, not kept)`, 'warn');
      },
    });
    const toldStderr = (text: string) => {
      const line = hide(text);
      this.#tail = [...this.#tail, line].slice(-STDERR_TAIL_LINES);
      this.#keep(line, 'warn');
    };
    this.stderr = splitLines(
      { onLine: toldStderr, onTooLong: (start, bytes) => toldStderr(`${start}… (line of ${bytes} bytes)`) },
      MAX_STDERR_LINE,
    );
  }

  get stderrTail(): string {
    return this.#tail.join('\n');
  }

  /** Returns the retained plain lines of stdout. */
  get text(): string {
    return this.#plain.join('\n');
  }

  #stdoutLine(line: string): void {
    const parsed = parseLine(line);
    if (parsed.kind === 'text') {
      if (this.#keep(line, 'info')) this.#plain.push(line);
    } else if (parsed.kind === 'invalid') this.#invalidRecord(parsed.type, parsed.problem);
    else if (parsed.record.type === 'log') this.#logged(parsed.record);
    else if (parsed.record.type === 'outcome' || parsed.record.type === 'failure') {
      this.printed = parsed.record;
      this.invalid = null;
    } else {
      this.mapped ||= parsed.record.type === 'code-map';
      this.#record(parsed.record);
    }
  }

  /** An invalid outcome line must not fall back to the default outcome. */
  #invalidRecord(type: string, problem: string): void {
    if (type === 'outcome' || type === 'failure') this.invalid = problem;
    if (type === 'code-map') this.brokenMap ??= problem;
    this.#keep(`a record of type "${type}" was not understood: ${problem}`, 'warn');
  }

  #logged({ level, message, context }: LogRecord): void {
    if (level === 'debug') this.#log?.debug(message, context);
    else this.#keep(message, level, context);
  }

  /** @returns false above the limit; the line is then only in the log file. */
  #keep(text: string, level: 'info' | 'warn' | 'error', context: Record<string, unknown> = {}): boolean {
    this.#log?.[level](text, context);
    if (this.#full) return false;
    this.#keptLines += 1;
    this.#keptChars += text.length;
    this.#full = this.#keptLines > MAX_KEPT_LINES || this.#keptChars > MAX_KEPT_CHARS;
    this.#message(this.#full ? '(further output of this run is not kept)' : text);
    return !this.#full;
  }

  #message(content: string): void {
    const fields = { toolName: null, toolInput: undefined, toolOutput: undefined, invocationIndex: 0 };
    this.#record({ type: 'message', role: 'system', subtype: 'system', content, ...fields });
  }
}

export function splitLines({ onLine, onTooLong }: LineHandlers, maxBytes = MAX_LINE_BYTES): LineSplitter {
  let parts: Buffer[] = [];
  let size = 0;

  const add = (part: Buffer) => {
    // Above the limit only the length is counted.
    if (size <= maxBytes) parts.push(part);
    size += part.length;
  };
  const finish = () => {
    const line = Buffer.concat(parts);
    if (size > maxBytes) onTooLong(line.toString('utf8', 0, KEPT_OF_TOO_LONG), size);
    else if (size > 0) onLine(line.toString('utf8').replace(/\r$/, ''));
    parts = [];
    size = 0;
  };

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at));
        finish();
        from = at + 1;
      }
      if (from < chunk.length) add(chunk.subarray(from));
    },
    end: finish,
  };
}
