/** Waits; true = the whole time, false = the signal came first. Nothing stays armed either way. */
export function sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(false);
    const finish = (whole: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(whole);
    };
    const onAbort = () => finish(false);
    const timer = setTimeout(() => finish(true), ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Something took longer than it was given. */
export class DeadlineError extends Error {
  constructor(what: string, ms: number) {
    super(`${what} took longer than ${ms} ms`);
    this.name = 'DeadlineError';
  }
}

/**
 * What the promise gives, if it settles in time. The work itself is not stopped: hand it a signal for that.
 * @throws DeadlineError naming what was waited for.
 */
export async function withDeadline<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  const settled = new AbortController();
  const late = sleep(ms, settled.signal).then((whole) => {
    if (whole) throw new DeadlineError(what, ms);
    return work;
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    settled.abort();
    // After an answer in time nobody waits for `late` any more.
    late.catch(() => undefined);
  }
}

/** A signal that fires after a time, or with the other one. Its timer holds no process alive. */
export const deadlineSignal = (ms: number, other?: AbortSignal): AbortSignal =>
  other ? AbortSignal.any([other, AbortSignal.timeout(ms)]) : AbortSignal.timeout(ms);
