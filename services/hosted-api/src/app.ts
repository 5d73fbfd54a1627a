import { hostedSurface, type Readiness } from '@pipeline/contract';
import { createApp, serviceHandlers } from '@pipeline/http';
import { handlersTellingOutages } from '@pipeline/store-watch';
import type { Express } from 'express';
import type { HostedContext } from './context.ts';
import { claimHandlers } from './routes/claims.ts';
import { mcpHandlers } from './routes/mcp.ts';
import { readHandlers } from './routes/reads.ts';
import { taskHandlers } from './routes/tasks.ts';
import { webhookHandlers } from './routes/webhooks.ts';
import { workerHandlers } from './routes/workers.ts';

/** The hosted API on these dependencies. `answerCheck`: what an answer that the contract does not declare leads to. */
export function createHostedApp(context: HostedContext, answerCheck: 'throw' | 'log'): Express {
  const { storeWatch, log, metrics, now, limits } = context;
  const handlers = {
    ...serviceHandlers({ surface: hostedSurface, readiness: () => readinessOf(context), now }),
    ...readHandlers(context),
    ...mcpHandlers(context),
    ...workerHandlers(context),
    ...claimHandlers(context),
    ...taskHandlers(context),
    ...webhookHandlers(context),
  };
  return createApp({
    surface: hostedSurface,
    handlers: handlersTellingOutages(storeWatch, handlers),
    authenticators: { worker: context.authenticateWorker, connection: context.authenticateConnection },
    log,
    registry: metrics.registry,
    storeReady: () => storeWatch.isConnected,
    answerCheck,
    limits: { address: limits.address, identity: { worker: limits.worker, connection: limits.connection } },
  });
}

/** Asks the store anew. The loops here read; what is written to the host is the monitor's. */
async function readinessOf({ storeWatch, loops }: HostedContext): Promise<Readiness> {
  const store = await storeWatch.check();
  const stale = loops.some((loop) => loop.state.consecutiveFailures > 0);
  return {
    status: store === 'connected' ? 'ready' : 'not-ready',
    store,
    poll: stale ? 'stale' : 'ok',
    outbox: 'off',
  };
}
