import type { Server } from 'node:http';

/** Functions that close what the present test file has open, in the order in which it was opened. */
type Open = Set<() => Promise<unknown>>;

// Helpers are loaded once per worker, and the environment apart from them: they share the global object.
const KEY = Symbol.for('pipeline.testing.open');

function openOf(): Open {
  const holder = globalThis as { [KEY]?: Open };
  holder[KEY] ??= new Set();
  return holder[KEY];
}

/**
 * Registers what a test opens and has to close: a server, a connection, a child process. If the test fails before it
 * closes it, it is closed at the end of the file; else it would keep the worker of Jest alive permanently.
 * @returns the close function for the test; a second call returns the promise of the first.
 */
export function closedWithFile<T>(close: () => Promise<T>): () => Promise<T> {
  const open = openOf();
  let closing: Promise<T> | undefined;
  const once = () => {
    open.delete(once);
    closing ??= close();
    return closing;
  };
  open.add(once);
  return once;
}

/**
 * Registers an HTTP server, listening or not, like `closedWithFile`.
 * @returns its close function, which also ends open connections.
 */
export const serverClosedWithFile = (server: Server): (() => Promise<void>) =>
  closedWithFile(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

/** Closes what tests have left open, the newest first. Called by the environment when a file has ended. */
export async function closeLeftOpen(): Promise<void> {
  for (const close of [...openOf()].reverse()) {
    // The failure of the test is what people should read.
    await close().catch((error: unknown) => process.stderr.write(`left open by a test: ${String(error)}\n`));
  }
}
