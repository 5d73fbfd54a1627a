import { type AnyRoute, checksOrigin } from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import { deliver, type LooseAnswer, undeclaredIn } from './answers/deliver.ts';
import type { AppOptions } from './app-options.ts';
import { guard } from './auth/authenticate.ts';
import { originCheck } from './auth/origin-check.ts';
import { BodyMemories } from './body/body-memory.ts';
import { bodyReader, readParams, readQuery } from './body/read-input.ts';
import { addressKey } from './limits/address-key.ts';
import type { RateLimiter } from './limits/rate-limit.ts';
import type { Authenticators } from './request/handler.ts';
import type { HttpMetrics } from './request/http-metrics.ts';
import { Input } from './request/input.ts';
import type { RequestScope } from './request/request-scope.ts';
import { REQUEST_TIMEOUTS } from './server/timeouts.ts';

/** Options without their exact types. */
export type LooseOptions = AppOptions<readonly AnyRoute[], Authenticators>;

export type LooseHandler = (input: object) => Promise<LooseAnswer> | LooseAnswer;

/** Stages of every request to a route, in this order. */
export class Stages {
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
