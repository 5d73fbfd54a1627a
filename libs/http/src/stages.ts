import type { AnyRoute } from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import type { AppOptions } from './app-options.ts';
import { guard } from './authenticate.ts';
import { deliver, type LooseAnswer, undeclaredIn } from './deliver.ts';
import type { Authenticators } from './handler.ts';
import type { HttpMetrics } from './http-metrics.ts';
import { Input } from './input.ts';
import type { RateLimiter } from './rate-limit.ts';
import { bodyReader, readParams, readQuery } from './read-input.ts';
import type { RequestScope } from './request-scope.ts';

/** The options, their exact types set aside. */
export type LooseOptions = AppOptions<readonly AnyRoute[], Authenticators>;

export type LooseHandler = (input: object) => Promise<LooseAnswer> | LooseAnswer;

/** What every request to a route passes, in this order. */
export class Stages {
  readonly guard: ReturnType<typeof guard>;
  readonly #options: LooseOptions;
  readonly #metrics: HttpMetrics;

  constructor(options: LooseOptions, metrics: HttpMetrics) {
    this.#options = options;
    this.#metrics = metrics;
    this.guard = guard(options.surface, options.authenticators, options.limits?.identity);
  }

  async limitAddress(
    scope: RequestScope,
    limiter: RateLimiter | undefined = this.#options.limits?.address,
  ): Promise<void> {
    if (limiter) Object.assign(scope.headers, await limiter.take(scope.address));
  }

  of(route: AnyRoute, handler: LooseHandler): (scope: RequestScope) => Promise<void> {
    const { surface, limits, storeReady } = this.#options;
    const readBody = bodyReader(route, surface.requireJsonType);
    const ownLimit = (limits?.routes as Record<string, RateLimiter | undefined> | undefined)?.[route.id];
    return async (scope) => {
      const { request, response } = scope;
      scope.route = route;
      if (limits?.address) await this.limitAddress(scope);
      if (ownLimit) await this.limitAddress(scope, ownLimit);
      const identity = await this.guard.check(scope, route);
      const params = readParams(route, request.params);
      if (route.needsStore && !storeReady()) throw new AppError('STORE_UNAVAILABLE', '');
      const query = readQuery(route, request.url);
      const body = await readBody(request, response);
      const answer = await handler(new Input(scope, { params, query, body, identity }));
      this.#check(scope, route, answer);
      await deliver(scope, route.replies[answer.status], answer);
    };
  }

  #check(scope: RequestScope, route: AnyRoute, answer: LooseAnswer): void {
    const strict = this.#options.answerCheck === 'throw';
    // Stored JSON was checked when it was written; parsing it again would cost more than sending it.
    if (!strict && answer.json !== undefined) return;
    const problems = undeclaredIn(route, answer);
    if (problems.length === 0) return;
    this.#metrics.undeclared.inc({ route: route.id });
    if (strict) throw new Error(`${route.id} -> ${answer.status}: ${problems.join('; ')}`);
    scope.log.error('answer is not declared', { route: route.id, status: answer.status, problems });
  }
}
