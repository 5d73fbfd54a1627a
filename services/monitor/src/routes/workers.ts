import type { workerOperationRoutes } from '@pipeline/contract';
import { drainWorker, type Engine, reclaimFromWorker } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { type FloorWorker, workersOnFloor } from '@pipeline/store';
import { actorOf } from '../auth/actor.ts';
import type { Authentication } from '../auth/authentication.ts';
import { readFloor } from '../workers/floor.ts';

type Handlers = HandlersOf<typeof workerOperationRoutes, Authentication>;

/**
 * interface: Workers.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const workerHandlers = (deps: () => { engine: Engine }): Handlers => ({
  listWorkers: async () => {
    const { store, settings } = deps().engine;
    const all = await workersOnFloor(store.db, settings());
    return { status: 200, body: { items: all.filter(isThere).map(entryOf), snapshot: true } };
  },
  workerFloor: async () => {
    const { store, settings } = deps().engine;
    return { status: 200, body: { items: await readFloor(store.db, settings()), snapshot: true } };
  },
  drainWorker: async ({ params, body, identity }) => {
    await drainWorker(deps().engine, params.id, body.drain, actorOf(identity, body.reason));
    return { status: 200, body: { ok: true, draining: body.drain } };
  },
  reclaimWorker: async ({ params, body, identity }) => {
    const task = await reclaimFromWorker(deps().engine, params.id, actorOf(identity, body.reason));
    return { status: 200, body: task ? { ok: true, reclaimed: true, ...task } : { ok: true, reclaimed: false } };
  },
});

/** Returns whether a worker has a recent heartbeat, whether or not the upkeep has noticed a silence already. */
const isThere = (worker: FloorWorker): boolean => worker.status !== 'offline' && worker.silent_since === null;

const entryOf = (worker: FloorWorker) => ({
  id: worker.id,
  repo: (worker.repos.length === 1 && worker.repos[0]) || null,
  status: worker.status,
  taskTypes: worker.task_types,
  currentTaskId: worker.task?.id ?? null,
  lastHeartbeat: worker.last_heartbeat_at,
  startedAt: worker.registered_at,
  version: worker.version || null,
});
