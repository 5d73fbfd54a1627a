import { ApiFailure, UnexpectedAnswer } from '@pipeline/contract';
import { type Logger, sleep } from '@pipeline/runtime';

export interface RetryOptions {
  signal: AbortSignal;
  log: Logger;
  /** First pause; each further one is twice as long, up to maxMs, and moved at random. */
  baseMs: number;
  maxMs: number;
}

const TOO_MANY = 429;
const SERVER_ERROR = 500;

/** True for what may go away by itself: no connection, no answer in time, a busy or broken server. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiFailure || error instanceof UnexpectedAnswer)
    return error.status >= SERVER_ERROR || error.status === TOO_MANY;
  // fetch throws TypeError for network failures, a deadline shows as TimeoutError; either may be another realm's class.
  const name = (error as { name?: unknown } | null)?.name;
  return name === 'TypeError' || name === 'TimeoutError';
}

/** Calls until there is an answer, or the signal comes. @throws what is not transient, or the signal's reason. */
export async function retrying<T>(what: string, call: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { signal, log, baseMs, maxMs } = options;
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!isTransient(error)) throw error;
      const named = error instanceof ApiFailure ? error.retryAfterMs : null;
      const pauseMs = named ?? Math.min(maxMs, baseMs * 2 ** attempt) * (0.5 + Math.random() / 2);
      log.warn(`${what} failed; retrying`, { attempt, pauseMs: Math.round(pauseMs), error });
      await sleep(pauseMs, signal);
    }
  }
}
