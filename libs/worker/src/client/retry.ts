import { ApiFailure, UnexpectedAnswer } from '@pipeline/contract';
import { type Logger, sleep } from '@pipeline/runtime';

export interface RetryOptions {
  signal: AbortSignal;
  log: Logger;
  /** First backoff in milliseconds; doubles up to maxMs, with jitter. */
  baseMs: number;
  maxMs: number;
}

const TOO_MANY = 429;
const SERVER_ERROR = 500;

/** Returns whether an error is transient: no connection, timeout, overloaded or failing server. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiFailure || error instanceof UnexpectedAnswer)
    return error.status >= SERVER_ERROR || error.status === TOO_MANY;
  // fetch throws TypeError for network failures and TimeoutError for timeouts; either may be a class of another realm.
  const name = (error as { name?: unknown } | null)?.name;
  return name === 'TypeError' || name === 'TimeoutError';
}

/** Retries a call until it succeeds or the signal is aborted. @throws non-transient errors, or the reason of the signal. */
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
