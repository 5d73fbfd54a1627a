import { RequestError } from '@octokit/request-error';
import { type ExecuteResult, sanitizeJson } from '@pipeline/domain';

/**
 * - rate-limited: ask again at `retryAt`.
 * - not-found: no such thing, or hidden from this identity.
 * - no-access: the app is not installed on the repository, its installation is suspended, or a write was redirected.
 * - unauthorized: the credentials are wrong or expired; only an operator can correct that.
 * - refused: the host will give the same answer again.
 * - unavailable: the network or the host failed.
 */
type HostFailure = 'rate-limited' | 'not-found' | 'no-access' | 'unauthorized' | 'refused' | 'unavailable';

/** Error of every read of the adapter. */
export class HostError extends Error {
  readonly kind: HostFailure;
  /** null when no answer came. */
  readonly httpStatus: number | null;
  /** ISO 8601; set for `rate-limited` only. */
  readonly retryAt: string | null;

  constructor(
    kind: HostFailure,
    message: string,
    options: { httpStatus?: number | null; retryAt?: string | null; cause?: unknown } = {},
  ) {
    // It is stored, and may quote the host.
    super(sanitizeJson(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HostError';
    this.kind = kind;
    this.httpStatus = options.httpStatus ?? null;
    this.retryAt = options.retryAt ?? null;
  }
}

/** The answer of a read; what goes wrong is thrown as HostError. */
export async function withHostErrors<T>(call: Promise<T>, now: () => Date): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw toHostError(error, now());
  }
}

/** Names what a failed call means. Anything that is no answer of the host counts as `unavailable`. */
function toHostError(error: unknown, now: Date): HostError {
  if (error instanceof HostError) return error;
  if (error instanceof RequestError) return fromAnswer(error, now);
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name === 'GraphqlResponseError') {
    return new HostError('refused', message, { httpStatus: 422, cause: error });
  }
  return new HostError('unavailable', message, { cause: error });
}

function fromAnswer(error: RequestError, now: Date): HostError {
  const { message } = error;
  // Octokit gives a request that got no answer at all the status 500.
  const httpStatus = error.response ? error.status : null;
  const retryAt = rateLimitedUntil(error, now);
  if (retryAt) return new HostError('rate-limited', message, { httpStatus, retryAt, cause: error });
  const kind = httpStatus === 403 && SUSPENDED.test(message) ? 'no-access' : kindOf(httpStatus);
  return new HostError(kind, message, { httpStatus, cause: error });
}

const SUSPENDED = /installation has been suspended/i;

function kindOf(status: number | null): HostFailure {
  if (status === null || status >= 500) return 'unavailable';
  if (status === 401) return 'unauthorized';
  return status === 404 || status === 410 ? 'not-found' : 'refused';
}

/**
 * The outbox's answer for a failed action.
 * @param ambiguous whether repeating this action blindly could do it twice.
 */
export function toResult(error: unknown, now: Date, ambiguous: boolean): ExecuteResult {
  const { kind, message, httpStatus, retryAt } = toHostError(error, now);
  if (kind === 'rate-limited' && retryAt) return { status: 'rate-limited', retryAt, message };
  if (kind === 'unavailable') return { status: 'failed', message, ambiguous };
  if (kind === 'no-access') return { status: 'no-access', message };
  if (kind === 'unauthorized') return { status: 'failed', message, ambiguous: false };
  return { status: 'refused', httpStatus: httpStatus ?? 0, message, kind: 'other' };
}

/** True when the host answered with that status. */
export const answered = (error: unknown, status: number): error is RequestError =>
  error instanceof RequestError && error.response !== undefined && error.status === status;

/** True when the host hides something from this identity, or does not have it; false for a rate limit. */
export const isHidden = (error: unknown): error is RequestError =>
  (answered(error, 403) || answered(error, 404)) && rateLimitedUntil(error, new Date()) === null;

const SECONDARY = /secondary rate limit|abuse detection|rate limit exceeded/i;
/** Wait that the host's documentation recommends when a limit names no time. */
const UNTOLD_SECONDS = 60;

/**
 * Returns when the host will accept requests again, ISO 8601; null when the answer is not a rate limit (a 403 may as
 * well be a missing right).
 */
function rateLimitedUntil(error: RequestError, now: Date): string | null {
  if (error.status !== 403 && error.status !== 429) return null;
  const headers = error.response?.headers ?? {};
  const after = retryAfter(headers['retry-after'], now);
  if (after) return after;
  if (headers['x-ratelimit-remaining'] === '0') {
    const reset = Number(headers['x-ratelimit-reset']);
    // A reset in the past means that the two clocks differ; a second's pause keeps the caller from spinning.
    if (Number.isFinite(reset)) return new Date(Math.max(reset * 1000, now.getTime()) + 1000).toISOString();
  }
  if (error.status === 429 || SECONDARY.test(error.message)) return inSeconds(UNTOLD_SECONDS, now);
  return null;
}

/** The header holds seconds or an HTTP date. */
function retryAfter(value: string | number | undefined, now: Date): string | null {
  if (value === undefined || value === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return inSeconds(Math.max(seconds, 1), now);
  const date = Date.parse(String(value));
  return Number.isNaN(date) ? null : new Date(Math.max(date, now.getTime() + 1000)).toISOString();
}

const inSeconds = (seconds: number, now: Date): string =>
  new Date(now.getTime() + Math.ceil(seconds) * 1000).toISOString();
