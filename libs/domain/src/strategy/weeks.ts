import { DAY_MS, utcMidnight } from '../windows.ts';

/** The Monday, midnight UTC, at which the ISO week after that of `at` begins. */
export function nextIsoWeekStart(at: Date): Date {
  const midnight = utcMidnight(at);
  return new Date(midnight.getTime() + (8 - (midnight.getUTCDay() || 7)) * DAY_MS);
}

const FIRST_RETRY_MS = 15 * 60_000;

/** Returns the delay before a failed proposal is retried: 15 minutes, then doubled each time, a day at most. */
export const retryProposalAfterMs = (consecutiveFailures: number): number =>
  Math.min(DAY_MS, FIRST_RETRY_MS * 2 ** (consecutiveFailures - 1));
