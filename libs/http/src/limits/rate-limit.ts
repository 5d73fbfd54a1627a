import type { AnyRoute } from '@pipeline/contract';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { AnswerError } from '../answers/answer-error.ts';
import type { CheckedAuth, Identity } from '../request/handler.ts';

export interface RateLimitOptions {
  /** Name of the policy in the RateLimit fields. */
  name: string;
  /** Requests in a window; 0 = no limit. */
  limit: number;
  windowSeconds: number;
}

type Fields = Readonly<Record<string, string>>;

/** Counters in this process; the limit applies per replica. */
export interface RateLimiter {
  /**
   * Counts one request of a key.
   * @returns the RateLimit fields of the response; none without a limit.
   * @throws RateLimited when the window is exhausted.
   */
  take(key: string): Promise<Fields>;
}

/** Counts one request of a caller against several limits. */
export interface IdentityLimiter {
  takeFor(identity: Identity): Promise<Fields>;
}

/** The limits of a service, by what they count. */
export interface Limits<Routes extends readonly AnyRoute[]> {
  /** Per address, before authentication, on every path. */
  address?: RateLimiter;
  /** Per address, before authentication, on these routes. */
  routes?: { readonly [Id in Routes[number]['id']]?: RateLimiter };
  /** Per credential, after authentication. */
  identity?: { readonly [K in CheckedAuth]?: RateLimiter | IdentityLimiter };
}

/** 429, with the time to wait. */
export class RateLimited extends AnswerError {
  constructor(retryAfterSeconds: number, fields: Fields) {
    super('RATE_LIMITED', `Too many requests: try again in ${retryAfterSeconds} s`, {
      ...fields,
      'retry-after': String(retryAfterSeconds),
    });
    this.name = 'RateLimited';
  }
}

/** Fixed window per key, reported in the IETF RateLimit fields. */
export function createRateLimiter({ name, limit, windowSeconds }: RateLimitOptions): RateLimiter {
  if (limit === 0) return { take: async () => ({}) };
  const buckets = new RateLimiterMemory({ points: limit, duration: windowSeconds });
  const policy = `"${name}";q=${limit};w=${windowSeconds}`;
  const fields = ({ remainingPoints, msBeforeNext }: RateLimiterRes): Fields => ({
    ratelimit: `"${name}";r=${remainingPoints};t=${Math.ceil(msBeforeNext / 1000)}`,
    'ratelimit-policy': policy,
  });
  return {
    async take(key) {
      try {
        return fields(await buckets.consume(key));
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        throw new RateLimited(Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)), fields(refusal));
      }
    },
  };
}

/**
 * Several limits of one caller, each with its own key; the response reports all of them. A request rejected by one limit was
 * counted by the limits before it.
 */
export function combineLimits<I extends Identity>(
  limits: readonly { limiter: RateLimiter; keyOf(identity: I): string }[],
): IdentityLimiter {
  return {
    async takeFor(identity) {
      const fields: Record<string, string> = {};
      for (const { limiter, keyOf } of limits) {
        for (const [name, value] of Object.entries(await limiter.take(keyOf(identity as I)))) {
          fields[name] = fields[name] === undefined ? value : `${fields[name]}, ${value}`;
        }
      }
      return fields;
    },
  };
}
