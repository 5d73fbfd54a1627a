import type { AttemptCounter } from '@pipeline/http';
import { RateLimiterMemory } from 'rate-limiter-flexible';

/** Failed logins as this process counts them. A key is forgotten with its window, so made-up names cost little. */
export function memoryCounter(): AttemptCounter {
  const counts = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: 1 });
  return {
    async add(key, windowSeconds) {
      const { consumedPoints, msBeforeNext } = await counts.penalty(key, 1, { customDuration: windowSeconds });
      return { points: consumedPoints, msLeft: msBeforeNext };
    },
    async subtract(key, windowSeconds) {
      await counts.reward(key, 1, { customDuration: windowSeconds });
    },
    async count(key) {
      const found = await counts.get(key);
      return found && found.msBeforeNext > 0 ? found.consumedPoints : 0;
    },
  };
}
