import type { consistencyCountRoutes } from '@pipeline/contract';
import { CONSISTENCY_KINDS, type ConsistencyKind } from '@pipeline/domain';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication } from '../../auth/authentication.ts';
import type { ConsistencyDeps } from './consistency.ts';

type Handlers = HandlersOf<typeof consistencyCountRoutes, Authentication>;

/**
 * interface: Data-consistency findings.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const consistencyCountHandlers = (deps: () => Pick<ConsistencyDeps, 'consistency'>): Handlers => {
  const counts = () => {
    const { consistency } = deps();
    const { page, polledAt } = consistency.page({ limit: 0, offset: 0 });
    const findings = consistency.all();
    const byKind = Object.fromEntries(
      CONSISTENCY_KINDS.map((kind) => [kind, findings.filter((finding) => finding.kind === kind).length]),
    ) as Record<ConsistencyKind, number>;
    return { status: 200, body: { total: page.total ?? 0, byKind, computedAt: polledAt } } as const;
  };
  return { consistencyCounts: counts, consistencyCountsByName: counts };
};
