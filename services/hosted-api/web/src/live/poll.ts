import { isLive } from './follow.ts';

/** Intervals at which pages read what changes by itself, without the stream of changes and with it. */
const POLL_MS = 10_000;
const SELDOM_MS = 60_000;

/** Interval of a query. Some figures change with time alone, so they are read again even while the stream is open. */
export const pollMs = (): number => (isLive.get() ? SELDOM_MS : POLL_MS);
