import type { workerRoutes } from '@pipeline/contract';
import {
  accessForTask,
  type ClaimToken,
  extend,
  fail,
  progress,
  recordMessages,
  report,
  start,
} from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import type { WorkerAuth, WorkerIdentity } from '../../auth/worker-tokens.ts';
import type { HostedContext } from '../../context/context.ts';
import { throwHostRefusal } from '../../repos/git-access.ts';

type Handlers = Omit<HandlersOf<typeof workerRoutes, WorkerAuth>, 'registerWorker' | 'heartbeat' | 'claimTask'>;

interface OnTask {
  params: { id: string };
  body: { claimToken: string };
  identity: WorkerIdentity;
}

/** The claim token authorizes requests about a task, together with the worker token that the worker registered with. */
const tokenOf = ({ params, body, identity }: OnTask): ClaimToken => ({
  tenantId: identity.tenantId,
  taskId: params.id,
  claimToken: body.claimToken,
  tokenId: identity.key,
});

/** Handlers for the reports of the holder of a claim about its task. */
export const taskHandlers = ({ engine, issuerOf }: HostedContext): Handlers => ({
  startTask: async (input) => ({
    status: 200,
    body: { ok: true, leaseExpiresAt: await start(engine, tokenOf(input)) },
  }),
  extendTask: async (input) => ({
    status: 200,
    body: { ok: true, leaseExpiresAt: await extend(engine, tokenOf(input)) },
  }),
  issueTaskCredentials: async (input) => {
    const access = await accessForTask(engine, tokenOf(input), issuerOf).catch(throwHostRefusal);
    const { repo, expiresAt, permissions } = access;
    input.log.info('git credentials given', { taskId: input.params.id, repo, expiresAt, permissions });
    return { status: 200, headers: { 'cache-control': 'no-store' }, body: access };
  },
  reportProgress: async (input) => {
    const { claimToken: _, ...said } = input.body;
    await progress(engine, tokenOf(input), said);
    return { status: 200, body: { ok: true } };
  },
  recordMessages: async (input) => {
    const stored = await recordMessages(engine, tokenOf(input), input.body.items);
    return { status: 200, body: { ok: true, stored } };
  },
  completeTask: async (input) => {
    const { claimToken: _, ...outcome } = input.body;
    return { status: 200, body: await report(engine, tokenOf(input), outcome) };
  },
  failTask: async (input) => {
    const { claimToken: _, ...failure } = input.body;
    return { status: 200, body: await fail(engine, tokenOf(input), failure) };
  },
});
