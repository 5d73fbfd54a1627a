import type { Readable, Writable } from 'node:stream';

/** Input and output streams of a command; by default those of the process. */
export interface Streams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable;
}
