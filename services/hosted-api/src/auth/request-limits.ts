import { combineLimits, createRateLimiter, type IdentityLimiter, type RateLimiter } from '@pipeline/http';
import type { ConnectionIdentity } from './connection-tokens.ts';

/** How many requests are taken; 0 = any number. Counted by this process, so each replica has its own. */
export interface RequestLimitOptions {
  /** A minute, of one connection. */
  connection: number;
  /** A minute, of all connections of one organisation. */
  org: number;
  /** MCP messages a minute, of one connection. */
  mcp: number;
  /** Per minute and address, for all callers together. */
  address: number;
  /** A second, of one worker token. */
  worker: number;
}

export interface RequestLimits {
  address: RateLimiter;
  connection: IdentityLimiter;
  worker: RateLimiter;
  mcp: RateLimiter;
}

export function requestLimits(options: RequestLimitOptions): RequestLimits {
  const perMinute = (name: string, limit: number) => createRateLimiter({ name, limit, windowSeconds: 60 });
  return {
    address: perMinute('address', options.address),
    connection: combineLimits<ConnectionIdentity>([
      { limiter: perMinute('connection', options.connection), keyOf: ({ key }) => key },
      { limiter: perMinute('org', options.org), keyOf: ({ scope }) => String(scope.tenantId) },
    ]),
    worker: createRateLimiter({ name: 'worker', limit: options.worker, windowSeconds: 1 }),
    mcp: perMinute('mcp', options.mcp),
  };
}
