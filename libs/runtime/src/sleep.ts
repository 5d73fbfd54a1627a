/** Waits; resolves to true after the whole time, false when the signal was aborted first. Leaves no timer or listener. */
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

/** A deadline was exceeded. */
export class DeadlineError extends Error {
  constructor(what: string, ms: number) {
    super(`${what} took longer than ${ms} ms`);
    this.name = 'DeadlineError';
  }
}

/**
 * Returns the result of the promise if it settles in time. The work itself is not stopped; pass it a signal for that.
 * @throws DeadlineError naming the awaited operation.
 */
export async function withDeadline<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(what, ms)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a signal that aborts after a timeout or with the given signal. Its timer does not keep the process alive. */
export const deadlineSignal = (ms: number, other?: AbortSignal): AbortSignal =>
  other ? AbortSignal.any([other, AbortSignal.timeout(ms)]) : AbortSignal.timeout(ms);
