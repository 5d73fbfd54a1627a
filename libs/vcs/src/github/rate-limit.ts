import type { RequestError } from '@octokit/request-error';

const SECONDARY = /secondary rate limit|abuse detection|rate limit exceeded/i;
/** What the host's documentation asks for when a limit names no time. */
const UNTOLD_SECONDS = 60;

/**
 * When the host will listen again, ISO 8601.
 * @returns null when the answer is not a rate limit (a 403 may as well be a missing right).
 */
export function rateLimitedUntil(error: RequestError, now: Date): string | null {
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
