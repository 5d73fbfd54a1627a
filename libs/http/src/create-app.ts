import type { IncomingMessage } from 'node:http';
import { type AnyRoute, checksOrigin, STATUS_OF, type Surface } from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import type { Logger } from '@pipeline/runtime';
import express, { type Express, type RequestHandler } from 'express';
import type { HelmetOptions } from 'helmet';
import type { Registry } from 'prom-client';
import { deliver, type LooseAnswer, undeclaredIn } from './answers/deliver.ts';
import { type ErrorPage, errorMapping, isBrowser, type Page, sendPage } from './answers/fail.ts';
import { securityHeaders } from './answers/security-headers.ts';
import { isMalformed, requireLine, unknownPaths } from './answers/unknown-path.ts';
import { guard } from './auth/authenticate.ts';
import { hostCheck, originCheck } from './auth/origin-check.ts';
import { BodyMemories, type BodyMemoryLimits } from './body/body-memory.ts';
import { bodyReader, readParams, readQuery } from './body/read-input.ts';
import { addressKey } from './limits/address-key.ts';
import type { Limits, RateLimiter } from './limits/rate-limit.ts';
import type { Authenticate, Authenticators, CheckedAuth, HandlersOf } from './request/handler.ts';
import { createHttpMetrics, type HttpMetrics } from './request/http-metrics.ts';
import { Input } from './request/input.ts';
import { observe } from './request/observe.ts';
import { RequestScope } from './request/request-scope.ts';
import { REQUEST_TIMEOUTS } from './server/timeouts.ts';

/** One authenticator per authentication kind used by the routes. */
type AuthenticatorsFor<Routes extends readonly AnyRoute[]> = {
  readonly [K in Extract<Routes[number]['auth'], CheckedAuth>]: Authenticate;
};

export interface AppOptions<Routes extends readonly AnyRoute[], A extends Authenticators> {
  surface: Surface<Routes>;
  handlers: HandlersOf<Routes, A>;
  authenticators: A;
  log: Logger;
  registry: Registry;
  /** Called before each route that requires the store; false returns 503 STORE_UNAVAILABLE. */
  storeReady: () => boolean;
  limits?: Limits<Routes>;
  /** Handling of a response that the contract does not declare: a 500 (tests, development), or a log line and a metric. */
  answerCheck: 'throw' | 'log';
  /** Express's `trust proxy`; default false: the address is the socket's. */
  trustProxy?: boolean | number | string;
  helmet?: HelmetOptions;
  /** Called for routes with auth `signature` before the body is read. @throws AppError for invalid headers. */
  requireSignature?: (request: IncomingMessage) => void;
  /** Origins, such as `https://host`, that may send state-changing requests, in addition to the host of the request. */
  ownOrigins?: readonly string[];
  /** Allowed host names in addition to IP addresses and localhost; undefined = any (no check against DNS rebinding). */
  hostNames?: readonly string[] | undefined;
  bodies?: { memory?: Partial<BodyMemoryLimits>; timeoutMs?: number };
  /** HTML 404 page for browsers at unknown paths outside the API; other clients get an ApiError. */
  notFoundPage?: Page;
  /** HTML page for browsers instead of an ApiError, if the route declares a page for the status. */
  errorPage?: ErrorPage | undefined;
}

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

/** Options without their exact types. */
type LooseOptions = AppOptions<readonly AnyRoute[], Authenticators>;

type LooseHandler = (input: object) => Promise<LooseAnswer> | LooseAnswer;

/** Stages of every request to a route, in this order. */
class Stages {
  readonly guard: ReturnType<typeof guard>;
  readonly #options: LooseOptions;
  readonly #metrics: HttpMetrics;
  readonly #memories: BodyMemories;
  readonly #checkOrigin: ReturnType<typeof originCheck>;

  constructor(options: LooseOptions, metrics: HttpMetrics) {
    this.#options = options;
    this.#metrics = metrics;
    this.#memories = new BodyMemories(options.bodies?.memory);
    this.#checkOrigin = originCheck(options.ownOrigins);
    this.guard = guard(options.surface, options.authenticators, options.limits?.identity);
  }

  async limitAddress(
    scope: RequestScope,
    limiter: RateLimiter | undefined = this.#options.limits?.address,
  ): Promise<void> {
    if (limiter) Object.assign(scope.headers, await limiter.take(addressKey(scope.address)));
  }

  of(route: AnyRoute, handler: LooseHandler): (scope: RequestScope) => Promise<void> {
    const { surface, limits, storeReady, requireSignature, bodies } = this.#options;
    const { requireJsonType } = surface;
    const memory = this.#memories.of(route);
    const readBody = bodyReader(route, {
      requireJsonType,
      memory,
      timeoutMs: bodies?.timeoutMs ?? REQUEST_TIMEOUTS.bodyMs,
    });
    const ownLimit = (limits?.routes as Record<string, RateLimiter | undefined> | undefined)?.[route.id];
    return async (scope) => {
      const { request } = scope;
      scope.route = route;
      if (limits?.address) await this.limitAddress(scope);
      if (ownLimit) await this.limitAddress(scope, ownLimit);
      if (checksOrigin(route)) this.#checkOrigin(request);
      if (route.auth === 'signature') requireSignature?.(request);
      const identity = await this.guard.check(scope, route);
      const params = readParams(route, request.params);
      if (route.needsStore && !storeReady()) throw new AppError('STORE_UNAVAILABLE', '');
      const query = readQuery(route, request.url);
      const body = await readBody(scope);
      const answer = await handler(new Input(scope, { params, query, body, identity }));
      this.#check(scope, route, answer);
      await deliver(scope, route.replies[answer.status], answer);
    };
  }

  #check(scope: RequestScope, route: AnyRoute, answer: LooseAnswer): void {
    const strict = this.#options.answerCheck === 'throw';
    // Stored JSON was validated when it was written; parsing it again would cost more than sending it.
    if (!strict && answer.json !== undefined) return;
    const problems = undeclaredIn(route, answer);
    if (problems.length === 0) return;
    this.#metrics.undeclared.inc({ route: route.id });
    if (strict) throw new Error(`${route.id} -> ${answer.status}: ${problems.join('; ')}`);
    scope.log.error('response is not declared by the contract', { route: route.id, status: answer.status, problems });
  }
}
