import type { projectionRoutes } from '@pipeline/contract';
import type { ProjectionStatus } from '@pipeline/domain';
import { type Engine, steerProjection } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { listProjections } from '@pipeline/store';
import { actorOf } from '../auth/actor.ts';
import type { Authentication } from '../auth/authentication.ts';

type Handlers = HandlersOf<typeof projectionRoutes, Authentication>;

/** Open entries: those that wait, and those that hold their lane. */
const OPEN: ProjectionStatus[] = ['pending', 'failed'];
const MOST = 500;

/**
 * interface: Projections.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const projectionHandlers = (deps: () => { engine: Engine }): Handlers => ({
  listProjections: async ({ query }) => {
    const statuses = query.status === undefined ? OPEN : [query.status];
    const projections = await listProjections(deps().engine.store.db, statuses, MOST);
    return { status: 200, body: { projections } };
  },
  retryProjection: async ({ params, body, identity }) => {
    await steerProjection(deps().engine, Number(params.id), 'retry', actorOf(identity, body.reason));
    return { status: 200, body: { ok: true } };
  },
  discardProjection: async ({ params, body, identity }) => {
    await steerProjection(deps().engine, Number(params.id), 'discard', actorOf(identity, body.reason));
    return { status: 200, body: { ok: true } };
  },
});
