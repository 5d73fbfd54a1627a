import { type NextFunction, type Request, type Response, Router } from 'express';
import { Failure } from '../http/failure.ts';
import { viewerOf } from '../http/request.ts';
import type { Sandbox } from '../state/model.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const SECONDARY = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';

/** Counts each token's requests an hour, shows the count in every answer; a 304 costs nothing. */
export function createRateLimit(sandbox: Sandbox) {
  const windows = new Map<string, { used: number; resetMs: number }>();
  const limit = sandbox.rateLimitPerHour;

  const windowOf = (login: string) => {
    const now = sandbox.now().getTime();
    const known = windows.get(login);
    if (known && known.resetMs > now) return known;
    const fresh = { used: 0, resetMs: now + HOUR_MS };
    windows.set(login, fresh);
    return fresh;
  };
  const show = (login: string) => {
    const { used, resetMs } = windowOf(login);
    return { limit, used, remaining: Math.max(0, limit - used), reset: Math.floor(resetMs / 1000) };
  };

  const writes = new Map<string, { since: number; count: number }>();
  /** The secondary limit: writes of one token in a minute. @throws Failure 403 with `Retry-After`. */
  const countWrite = ({ method }: Request, login: string) => {
    if (method === 'GET' || method === 'HEAD') return;
    const now = sandbox.now().getTime();
    const known = writes.get(login);
    const window = known && now - known.since < MINUTE_MS ? known : { since: now, count: 0 };
    writes.set(login, window);
    window.count += 1;
    if (window.count <= sandbox.writesPerMinute) return;
    const seconds = Math.ceil((window.since + MINUTE_MS - now) / 1000);
    throw new Failure(403, SECONDARY, undefined, { 'Retry-After': String(seconds) });
  };

  const middleware = (req: Request, res: Response, next: NextFunction) => {
    const { login } = viewerOf(res);
    const window = windowOf(login);
    const over = window.used >= limit;
    if (!over) window.used += 1;
    for (const [name, value] of Object.entries(show(login))) res.set(`X-RateLimit-${name}`, String(value));
    if (over) throw new Failure(403, `API rate limit exceeded for user ${login}.`);
    countWrite(req, login);
    res.once('finish', () => {
      if (res.statusCode === 304) window.used -= 1;
    });
    next();
  };

  // Asking for the limit does not count, so this route stands before the counting.
  const route = Router();
  route.get('/rate_limit', (_req, res) => {
    const core = show(viewerOf(res).login);
    res.json({ resources: { core, search: core, graphql: core }, rate: core });
  });
  return { middleware, route };
}
