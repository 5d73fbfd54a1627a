const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/**
 * Returns the wait before reconnect number `attempt` (from 0), 1 to 30 seconds. Half of it is random, so that the
 * browsers of a restarted monitor do not return at the same moment.
 * @param random from 0 to 1.
 */
export const reconnectDelay = (attempt: number, random: number): number => {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt + 1, 10));
  return Math.max(FIRST_MS, longest / 2 + (longest / 2) * random);
};
