import { type AnyRoute, STATUS_OF, type Surface } from '@pipeline/contract';
import express, { type Express, type RequestHandler } from 'express';
import { deliver } from './answers/deliver.ts';
import { errorMapping } from './answers/fail.ts';
import { securityHeaders } from './answers/security-headers.ts';
import { isBrowser, sendPage } from './answers/send.ts';
import { isMalformed, requireLine, unknownPaths } from './answers/unknown-path.ts';
import type { AppOptions, AuthenticatorsFor } from './app-options.ts';
import { hostCheck } from './auth/origin-check.ts';
import type { Authenticators } from './request/handler.ts';
import { createHttpMetrics } from './request/http-metrics.ts';
import { observe } from './request/observe.ts';
import { RequestScope } from './request/request-scope.ts';
import { type LooseHandler, type LooseOptions, Stages } from './stages.ts';

/**
 * Mounts the declarations of a surface with their handlers. Every request passes the same stages in the same order:
 * request id, access log, host, limits, origin, authentication, path, store, query, body, handler, response check, error mapping.
 */
export function createApp<
  const Routes extends readonly AnyRoute[],
  A extends Authenticators & AuthenticatorsFor<Routes>,
>(options: AppOptions<Routes, A>): Express {
  const surface: Surface = options.surface;
  const metrics = createHttpMetrics(options.registry);
  const { answerCheck, errorPage } = options;
  const fail = errorMapping({ surface, metrics, answerCheck, errorPage });
  const stages = new Stages(options as unknown as LooseOptions, metrics);
  const unknown = unknownPaths(surface);
  const headers = securityHeaders(options.helmet);
  const requireHost = hostCheck(options.hostNames);

  /** Runs the stages of one request and maps thrown errors to the response. */
  const guarded =
    (run: (scope: RequestScope) => Promise<void>): RequestHandler =>
    async (_request, response) => {
      const scope = response.locals.scope as RequestScope;
      try {
        await run(scope);
      } catch (error) {
        fail(scope, error);
      }
    };
  const answerUnknown = guarded(async (scope) => {
    await stages.limitAddress(scope);
    const isApi = unknown.needsAuth(scope.request.path);
    if (isApi) await stages.guard.checkAny(scope);
    const { error, empty } = unknown.answerFor(scope);
    if (options.notFoundPage && !isApi && error.code === 'NOT_FOUND' && isBrowser(scope.request))
      return sendPage(scope, STATUS_OF[error.code], options.notFoundPage);
    if (!empty) throw error;
    await deliver(scope, undefined, { status: STATUS_OF[error.code] });
  });

  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false);
  app
    .set('case sensitive routing', true)
    .set('strict routing', true)
    .set('trust proxy', options.trustProxy ?? false);
  app.use((request, response, next) => {
    const scope = new RequestScope(request, response, options.log, headers);
    response.locals.scope = scope;
    observe(scope, metrics);
    try {
      requireLine(request.url);
      requireHost(request);
    } catch (problem) {
      fail(scope, problem);
      return;
    }
    if (isMalformed(request.path)) answerUnknown(request, response, next);
    else next();
  });
  for (const route of surface.routes) {
    const handler = (options.handlers as Record<string, LooseHandler | undefined>)[route.id];
    if (!handler) throw new Error(`route ${route.id} has no handler`);
    const path = route.path.replace(/\{(\w+)(\*?)\}/g, (_all, name, rest) => (rest ? `*${name}` : `:${name}`));
    const answer = guarded(stages.of(route, handler));
    app[route.method](path, route.needsQuery ? withQuery(answer) : answer);
  }
  app.use(answerUnknown);
  return app;
}

/** Passes a request without a query string to the handler of unknown paths. */
const withQuery =
  (answer: RequestHandler): RequestHandler =>
  (request, response, next) =>
    /\?./.test(request.url) ? answer(request, response, next) : next();
