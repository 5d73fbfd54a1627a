import type { intelligenceRoutes } from '@pipeline/contract';
import { AppError, type IntelligenceMove } from '@pipeline/domain';
import { decideOnItem, type Engine, retrieve } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { itemById, itemsOfRepo, locateItem } from '@pipeline/store';
import { actorOf } from '../../auth/actor.ts';
import type { Authentication, Operator } from '../../auth/authentication.ts';
import { repoNamedBy } from '../parameters/repo-named-by.ts';
import { isUuid } from '../parameters/uuid.ts';

type Handlers = HandlersOf<typeof intelligenceRoutes, Authentication>;

/**
 * interface: Findings and intelligence.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const intelligenceHandlers = (deps: () => { engine: Engine }): Handlers => {
  const moved =
    (move: IntelligenceMove) =>
    async ({ params: { id }, body, identity }: Move) => {
      if (!isUuid(id)) throw notFound(id);
      const request = { id, move, supersededBy: body.supersededBy };
      const item = await decideOnItem(deps().engine, request, actorOf(identity, body.reason));
      return { status: 200 as const, body: { ok: true as const, item } };
    };
  return {
    retrieveIntelligence: async ({ query: { repo: slug, tenant, agent, issue, pr, budget } }) => {
      const { engine } = deps();
      const repo = await repoNamedBy(engine, { slug, tenant });
      const about = { issueNumber: issue ?? null, prNumber: pr ?? null, budget: budget ?? null };
      const from = { db: engine.store.reads, settings: engine.settings(), embedder: engine.embedder };
      return { status: 200, body: await retrieve(from, { ...repo, agent, ...about }) };
    },

    listIntelligence: async ({ query: { repo: slug, tenant, limit, offset, ...wanted } }) => {
      const { engine } = deps();
      const repo = await repoNamedBy(engine, { slug, tenant });
      const filter = {
        kind: wanted.kind ?? null,
        status: wanted.status ?? null,
        scopeKind: wanted.scope_kind ?? null,
        scopeRef: wanted.scope_ref ?? null,
        tag: wanted.tag?.toLowerCase() ?? null,
        source: wanted.source ?? null,
        minConfidence: wanted.min_confidence ?? null,
      };
      const { items, total } = await itemsOfRepo(engine.store.reads, { ...repo, ...filter, limit, offset });
      const hasMore = offset + items.length < total;
      return { status: 200, body: { items, page: { total, limit, offset, hasMore } } };
    },

    getIntelligence: async ({ params: { id } }) => {
      const { store } = deps().engine;
      const place = isUuid(id) ? await locateItem(store.db, id) : undefined;
      const item = place && (await itemById(store.reads, place.tenant_id, id));
      if (!item) throw notFound(id);
      return { status: 200, body: { item } };
    },

    approveIntelligence: moved('approve'),
    dismissIntelligence: moved('dismiss'),
    supersedeIntelligence: moved('supersede'),
  };
};

interface Move {
  params: { id: string };
  body: { reason?: string | undefined; supersededBy?: string | undefined };
  identity: Operator;
}

const notFound = (id: string): AppError => new AppError('NOT_FOUND', `Intelligence item not found: ${id}`);
