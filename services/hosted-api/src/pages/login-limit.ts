import { createHash } from 'node:crypto';
import { addressKey } from '@pipeline/http';
import { type Db, returnPoint } from '@pipeline/store';
import { sharedRateLimiter } from '../shared-rate-limit.ts';

const WINDOW_SECONDS = 5 * 60;

/** Slows down guessing: so many failed logins in 5 minutes for each address and for each user, over all replicas. */
export interface LoginLimit {
  /**
   * Counts an attempt before it is looked at, so that many at once cannot slip past.
   * @returns what takes the count back; a login that succeeded must not bring others nearer to the limit.
   * @throws RateLimited with the seconds to wait.
   */
  attempt(address: string, email: string): Promise<() => Promise<void>>;
}

/** @param limit failures per window; 0 = no limit. */
export function loginLimit(db: Db, limit: number): LoginLimit {
  const limiter = sharedRateLimiter(db, { name: 'login', limit, windowSeconds: WINDOW_SECONDS });
  return {
    async attempt(address, email) {
      const user = createHash('sha256').update(email.trim().toLowerCase()).digest('base64url');
      const keys = [`address ${addressKey(address)}`, `user ${user}`];
      for (const key of keys) await limiter.take(key);
      return async () => {
        for (const key of keys) await returnPoint(db, `login ${key}`);
      };
    },
  };
}
