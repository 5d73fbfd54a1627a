import { RateLimited, type RateLimiter, type RateLimitOptions } from '@pipeline/http';
import { type Db, takePoint } from '@pipeline/store';

/** A fixed window per key that all replicas count together, one statement each: for what is rare and worth guarding. */
export function sharedRateLimiter(db: Db, { name, limit, windowSeconds }: RateLimitOptions): RateLimiter {
  if (limit === 0) return { take: async () => ({}) };
  return {
    async take(key) {
      const { points, msLeft } = await takePoint(db, `${name} ${key}`, windowSeconds * 1000);
      const seconds = Math.max(1, Math.ceil(msLeft / 1000));
      const fields = {
        ratelimit: `"${name}";r=${Math.max(0, limit - points)};t=${seconds}`,
        'ratelimit-policy': `"${name}";q=${limit};w=${windowSeconds}`,
      };
      if (points > limit) throw new RateLimited(seconds, fields);
      return fields;
    },
  };
}
