import type { workerRoutes } from '@pipeline/contract';
import type { HandlersOf } from '@pipeline/http';
import { reachOf } from '../../auth/repo-reach.ts';
import { typesOf } from '../../auth/task-types.ts';
import type { WorkerAuth } from '../../auth/worker-tokens.ts';
import type { HostedContext } from '../../context/context.ts';

type Handlers = Pick<HandlersOf<typeof workerRoutes, WorkerAuth>, 'claimTask'>;

/** Claims, which may wait for a task. */
export const claimHandlers = ({ engine, waiters }: HostedContext): Handlers => ({
  claimTask: async ({ body, identity, signal }) => {
    const { workerId, repos, agents, waitMs, claimKey } = body;
    const taskTypes = typesOf(identity, body.taskTypes);
    if (taskTypes.length === 0) return { status: 204 };
    const repoIds = await reachOf(engine.store.db, identity, repos);
    const { tenantId, key: tokenId } = identity;
    const secret = claimKey !== undefined && { claimSecret: identity.secretOf(claimKey.toLowerCase()) };
    const request = { tenantId, tokenId, workerId, taskTypes, agents, repoIds, ...secret };
    const task = await waiters.claim(request, { waitMs, signal });
    return task ? { status: 200, body: { task } } : { status: 204 };
  },
});
