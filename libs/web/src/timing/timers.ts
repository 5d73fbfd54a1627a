/** The timers of the dashboard: the only module that uses those of the browser. */

/** Calls `run` after `ms`. @returns a function that cancels it. */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

/** Calls `run` once the next frame is painted. @returns a function that cancels it. */
export function afterFrame(run: () => void): () => void {
  let cancelTimer: (() => void) | undefined;
  // A frame is painted after its callbacks; a timer alone may run before it.
  const frame = requestAnimationFrame(() => {
    cancelTimer = after(0, run);
  });
  return () => {
    cancelAnimationFrame(frame);
    cancelTimer?.();
  };
}

/** Calls `run` every `ms`. @returns a function that ends it. */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms);
  return () => clearInterval(timer);
}

/** Resolves after `ms`, or at once when the signal aborts. */
export const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = after(ms, resolve);
    signal.addEventListener('abort', () => {
      cancel();
      resolve();
    });
  });

/** Returns a function that calls `run` at most once per `ms`: at once, and again at the end if it was called meanwhile. */
export function atMostEvery(ms: number, run: () => void): () => void {
  let waiting = false;
  let again = false;
  const start = (): void => {
    waiting = true;
    run();
    after(ms, () => {
      waiting = false;
      if (!again) return;
      again = false;
      start();
    });
  };
  return () => {
    if (waiting) again = true;
    else start();
  };
}
