/**
 * A stack as Jest formats it best: it shortens a path and shows the source of the first frame outside of libraries, but
 * has no addresses, which frames of modules have. The frames of this runner are left out.
 */
export function readableStack(stack: string): string {
  const lines = stack.split('\n').map((line) => (FRAME.test(line) ? line.replace('file://', '') : line));
  return lines.filter((line) => !(FRAME.test(line) && line.includes(import.meta.dirname))).join('\n');
}

/** The error itself, its stack made readable. */
export function withReadableStack<T>(error: T): T {
  if (error instanceof Error && error.stack) error.stack = readableStack(error.stack);
  return error;
}

const FRAME = /^\s+at /;
