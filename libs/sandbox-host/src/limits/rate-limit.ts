import { type NextFunction, type Request, type Response, Router } from 'express';
import { Failure } from '../http/failure.ts';
import { viewerOf } from '../http/request.ts';
import type { Sandbox } from '../state/model.ts';

const HOUR_MS = 3_600_000;

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

  const middleware = (_req: Request, res: Response, next: NextFunction) => {
    const { login } = viewerOf(res);
    const window = windowOf(login);
    const over = window.used >= limit;
    if (!over) window.used += 1;
    for (const [name, value] of Object.entries(show(login))) res.set(`X-RateLimit-${name}`, String(value));
    if (over) throw new Failure(403, `API rate limit exceeded for user ${login}.`);
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
