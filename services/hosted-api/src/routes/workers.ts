import type { workerRoutes } from '@pipeline/contract';
import { heartbeat, registerWorker } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { requireReach } from '../auth/repo-reach.ts';
import { requireTypes } from '../auth/task-types.ts';
import type { WorkerAuth } from '../auth/worker-tokens.ts';
import type { HostedContext } from '../context/context.ts';

type Handlers = Pick<HandlersOf<typeof workerRoutes, WorkerAuth>, 'registerWorker' | 'heartbeat'>;

/** The life of a worker: it registers, and sends heartbeats. */
export const workerHandlers = ({ engine }: HostedContext): Handlers => ({
  registerWorker: async ({ body, identity }) => {
    requireTypes(identity, body.taskTypes);
    await requireReach(engine.store.db, identity, body.repos);
    const workerId = await registerWorker(engine, identity.tenantId, { ...body, tokenId: identity.key });
    const { heartbeatIntervalMs, leaseMs } = engine.settings();
    return { status: 200, body: { workerId, heartbeatIntervalMs, leaseMs } };
  },
  heartbeat: async ({ body, identity }) => ({
    status: 200,
    body: await heartbeat(engine, { tenantId: identity.tenantId, tokenId: identity.key, ...body }),
  }),
});
