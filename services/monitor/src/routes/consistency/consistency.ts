import type { consistencyCountRoutes, consistencyRoutes } from '@pipeline/contract';
import { CONSISTENCY_KINDS, type ConsistencyFinding, type ConsistencyKind } from '@pipeline/domain';
import { type Engine, enqueueOrphan, type HostOf, repairFinding, type StoreRepair } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { actorOf } from '../../auth/actor.ts';
import type { Authentication, Operator } from '../../auth/authentication.ts';
import { type ConsistencyCache, withFinding } from '../../consistency/consistency-cache.ts';

export interface ConsistencyDeps {
  engine: Engine;
  consistency: ConsistencyCache;
  /** The host of a repo; null when this process has no access to it. */
  hostOf: HostOf;
}

type Handlers = HandlersOf<typeof consistencyRoutes, Authentication>;

interface Call {
  params: { id: string };
  body: { reason?: string | undefined };
  identity: Operator;
}

/**
 * interface: Consistency.
 * @param deps read at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const consistencyHandlers = (deps: () => ConsistencyDeps): Handlers => {
  const answer = (id: string, finding: ConsistencyFinding | null) => {
    deps().consistency.change(withFinding(id, finding));
    return { status: 200, body: { ok: true, finding } } as const;
  };
  const repairBy =
    (repair: StoreRepair) =>
    async ({ params: { id }, body, identity }: Call) =>
      answer(id, await repairFinding(deps().engine, repair, id, actorOf(identity, body.reason)));
  return {
    listConsistencyFindings: ({ query }) => ({ status: 200, body: deps().consistency.page(query) }),
    clearFlag: repairBy('clear-flag'),
    resolveSubtaskEdges: repairBy('resolve-subtask-edges'),
    linkSi: repairBy('link-si'),
    deleteOrphanEdges: repairBy('delete-orphan-edges'),
    enqueueOrphan: async ({ params: { id }, body, identity }) => {
      const { engine, hostOf } = deps();
      return answer(id, await enqueueOrphan(engine, hostOf, id, actorOf(identity, body.reason)));
    },
  };
};

type CountHandlers = HandlersOf<typeof consistencyCountRoutes, Authentication>;

/**
 * interface: Data-consistency findings.
 * @param deps read at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const consistencyCountHandlers = (deps: () => Pick<ConsistencyDeps, 'consistency'>): CountHandlers => {
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
