import { createHash } from 'node:crypto';
import { addressKey, RateLimited } from '@pipeline/http';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

const WINDOW_SECONDS = 5 * 60;

/** Slows down guessing: so many failed logins in 5 minutes for each address and for each username. */
export interface LoginLimit {
  /**
   * Counts an attempt before it is looked at, so that many at once cannot slip past.
   * @returns what takes the count back; a login that succeeded must not bring others nearer to the limit.
   * @throws RateLimited with the seconds to wait.
   */
  attempt(address: string, username: string): Promise<() => Promise<void>>;
}

/**
 * Buckets of this process. They are forgotten with their window, so made-up usernames cost little.
 * @param points attempts in a window; 0 = no limit.
 */
export function createLoginLimit(points: number): LoginLimit {
  if (points === 0) return { attempt: async () => async () => undefined };
  const buckets = new RateLimiterMemory({ points, duration: WINDOW_SECONDS });
  return {
    async attempt(address, username) {
      const user = createHash('sha256').update(username).digest('base64');
      const keys = [`address ${addressKey(address)}`, `user ${user}`];
      for (const key of keys) await consume(buckets, key);
      return async () => {
        for (const key of keys) await buckets.reward(key);
      };
    },
  };
}

async function consume(buckets: RateLimiterMemory, key: string): Promise<void> {
  try {
    await buckets.consume(key);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
    throw new RateLimited(seconds, {
      ratelimit: `"login";r=0;t=${seconds}`,
      'ratelimit-policy': `"login";q=${buckets.points};w=${WINDOW_SECONDS}`,
    });
  }
}
