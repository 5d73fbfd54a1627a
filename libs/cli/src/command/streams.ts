import type { Readable, Writable } from 'node:stream';

/** Where a command reads and writes: those of the process, as a rule. */
export interface Streams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable;
}
