import { SECOND_MS } from './windows.ts';

const FIRST_DELAY_MS = 30 * SECOND_MS;
const JITTER = 0.2;

/** Doubles with each attempt up to the cap, then ±20 % so that simultaneous failures are not retried simultaneously. */
export function backoffMs(attempt: number, capMs: number, random: number): number {
  const steps = Math.max(0, Math.trunc(attempt));
  const delay = Math.min(FIRST_DELAY_MS * 2 ** steps, capMs);
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}
