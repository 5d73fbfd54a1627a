/** Facts about the stream of this browser; the leading tab reports them to the others. */
export interface LiveFacts {
  phase: 'connecting' | 'open' | 'waiting' | 'signed-out';
  /** Local time of the latest message, a heartbeat among them. */
  lastMessageAt: number | null;
  /** Local time at which the connection was lost, or its first attempt. */
  since: number;
  /** Attempts since then. */
  attempt: number;
}

export type LiveState = 'live' | 'paused' | 'reconnecting' | 'stale' | 'cut' | 'store-offline' | 'signed-out';

/** The server sends a heartbeat every 30 seconds. */
export const STALE_MS = 45_000;
export const CUT_MS = 75_000;

interface Surroundings {
  now: number;
  signedOut: boolean;
  storeOffline: boolean;
  paused: boolean;
}

/** Returns the state of the live badge. The first that holds wins: what makes the figures oldest comes first. */
export function liveState(facts: LiveFacts, { now, signedOut, storeOffline, paused }: Surroundings): LiveState {
  if (signedOut || facts.phase === 'signed-out') return 'signed-out';
  const silence = now - (facts.lastMessageAt ?? facts.since);
  if (silence >= CUT_MS) return 'cut';
  if (silence >= STALE_MS) return 'stale';
  if (storeOffline) return 'store-offline';
  if (paused) return 'paused';
  return facts.phase === 'open' ? 'live' : 'reconnecting';
}

/** Returns whether figures of this state may be out of date without a sign of it. */
export const isOutdated = (state: LiveState): boolean =>
  state === 'stale' || state === 'cut' || state === 'signed-out' || state === 'store-offline';
