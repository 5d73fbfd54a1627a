import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { makePrivateFolder } from '@pipeline/runtime';
import type { Line } from './child-spec.ts';

const ROTATE_AT = 20 * 1024 * 1024;
const TAIL = 20;

/**
 * Log of a child: JSON lines of its output go to `<name>.log`, unless it keeps that file itself, everything else to
 * `<name>.err`. A file that has grown large is put aside when the stack starts.
 */
export class ChildLog {
  readonly #dir: string;
  readonly #name: string;
  readonly #files = new Map<string, WriteStream>();
  #tail: string[] = [];

  constructor(dir: string, name: string) {
    this.#dir = dir;
    this.#name = name;
    makePrivateFolder(dir);
  }

  /** The last errors and lines that were not JSON: why it ended, most likely. */
  get tail(): string {
    return this.#tail.join('\n');
  }

  /** A child was restarted. */
  clear(): void {
    this.#tail = [];
  }

  json(line: string): void {
    this.#write('log', line);
  }

  text(line: string): void {
    this.remember(line);
    this.#write('err', line);
  }

  /** Services say a reason twice: to their log, and as plain text. */
  remember(line: string): void {
    if (!this.#tail.includes(line)) this.#tail = [...this.#tail, line].slice(-TAIL);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => new Promise<void>((done) => file.end(() => done()))));
    this.#files.clear();
  }

  #write(kind: 'log' | 'err', line: string): void {
    const file = this.#files.get(kind) ?? this.#open(kind);
    file.write(`${line}\n`);
  }

  #open(kind: string): WriteStream {
    const path = join(this.#dir, `${this.#name}.${kind}`);
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > ROTATE_AT) renameSync(path, `${path}.1`);
    const file = createWriteStream(path, { flags: 'a' });
    // A full disk must not end the stack, and there is no other place to report it.
    file.on('error', () => undefined);
    this.#files.set(kind, file);
    return file;
  }
}

/** Calls for each line of a stream, the unfinished last one included. */
export function eachLine(stream: Readable, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') take(line);
  });
  stream.on('end', () => {
    if (rest !== '') take(rest);
  });
}

/** null for a line that is no JSON object. */
export function parseLine(line: string): Line | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line) as Line;
  } catch {
    return null;
  }
}
