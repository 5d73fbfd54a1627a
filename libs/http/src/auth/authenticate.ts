import type { AnyRoute, Surface } from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import type { Limits } from '../limits/rate-limit.ts';
import type { Authenticate, Authenticators, CheckedAuth, Identity } from '../request/handler.ts';
import type { RequestScope } from '../request/request-scope.ts';

interface Guard {
  /** Returns the caller of a route; undefined for routes without authentication. @throws AppError 401, 429. */
  check(scope: RequestScope, route: AnyRoute): Promise<Identity | undefined>;
  /** Accepts any credentials of the surface, for unknown paths. @throws AppError 401. */
  checkAny(scope: RequestScope): Promise<void>;
}

const isChecked = (auth: AnyRoute['auth']): auth is CheckedAuth => auth !== 'none' && auth !== 'signature';

export function guard(
  surface: Surface,
  authenticators: Authenticators,
  limits: Limits<readonly AnyRoute[]>['identity'] = {},
): Guard {
  const identify = async (scope: RequestScope, kind: CheckedAuth, authenticate: Authenticate) => {
    const identity = await authenticate(scope.request);
    scope.identityKey = identity.key;
    const limiter = limits[kind];
    if (limiter) {
      const fields = 'takeFor' in limiter ? limiter.takeFor(identity) : limiter.take(identity.key);
      Object.assign(scope.headers, await fields);
    }
    return identity;
  };
  return {
    async check(scope, { id, auth }) {
      if (!isChecked(auth)) return undefined;
      const authenticate = authenticators[auth];
      if (!authenticate) throw new Error(`no authenticator of kind ${auth} for ${id}`);
      return identify(scope, auth, authenticate);
    },
    async checkAny(scope) {
      const kinds = surface.unknownPathAuth.flatMap((kind) => {
        const authenticate = authenticators[kind];
        return authenticate ? [() => identify(scope, kind, authenticate)] : [];
      });
      await firstAccepted(kinds);
    },
  };
}

/** @throws the most specific error when all authenticators fail: wrong credentials take precedence over missing ones. */
async function firstAccepted(attempts: (() => Promise<unknown>)[]): Promise<void> {
  const refusals: AppError[] = [];
  for (const attempt of attempts) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (!(error instanceof AppError) || !error.code.startsWith('AUTH_')) throw error;
      refusals.push(error);
    }
  }
  const refusal = refusals.find((error) => error.code === 'AUTH_FAILED') ?? refusals[0];
  if (refusal) throw refusal;
}
