import { combineLimits, createRateLimiter, type IdentityLimiter, type RateLimiter } from '@pipeline/http';
import type { ConnectionIdentity } from './connection-tokens.ts';

/** Maximum numbers of requests; 0 = no limit. Each process counts separately, so the limits apply per replica. */
export interface RequestLimitOptions {
  /** Requests per minute and connection. */
  connection: number;
  /** Requests per minute and organisation, over all its connections. */
  org: number;
  /** MCP messages per minute and connection. */
  mcp: number;
  /** Requests per minute and address, over all its callers. */
  address: number;
  /** Requests per second and worker token. */
  worker: number;
}

export interface RequestLimits {
  address: RateLimiter;
  connection: IdentityLimiter;
  worker: RateLimiter;
  mcp: RateLimiter;
}

/** Creates the rate limiters of one process. */
export function createRequestLimits(options: RequestLimitOptions): RequestLimits {
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
