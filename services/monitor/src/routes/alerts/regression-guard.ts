import type { regressionGuardRoutes } from '@pipeline/contract';
import type { GuardedRepo } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication } from '../../auth/authentication.ts';
import type { PolledValue } from '../../polling/polled-value.ts';

export interface RegressionGuardDeps {
  kpis: PolledValue<GuardedRepo[]>;
}

type Handlers = HandlersOf<typeof regressionGuardRoutes, Authentication>;

/**
 * interface: Cache-backed observability.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const regressionGuardHandlers = (deps: () => RegressionGuardDeps): Handlers => ({
  readRegressionGuard: () => {
    const { last } = deps().kpis;
    return { status: 200, body: { repos: last?.value ?? [], polledAt: last?.polledAt ?? null } };
  },
});
