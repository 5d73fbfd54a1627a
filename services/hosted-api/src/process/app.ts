import { hostedSurface, type Readiness } from '@pipeline/contract';
import { createApp, type RateLimiter, serviceHandlers } from '@pipeline/http';
import { handlersReportingOutages, reportingOutages } from '@pipeline/store';
import type { Express } from 'express';
import type { HostedContext } from '../context/context.ts';
import { asPages } from '../pages/answers.ts';
import { errorPage } from '../pages/error-page.ts';
import { notFoundPage } from '../pages/home-page.ts';
import { accountHandlers } from '../routes/accounts/account.ts';
import { browserHandlers } from '../routes/accounts/browser.ts';
import { consentHandlers } from '../routes/accounts/consent.ts';
import { deviceHandlers } from '../routes/accounts/device.ts';
import { invitationHandlers } from '../routes/accounts/invitation.ts';
import { oauthHandlers } from '../routes/accounts/oauth.ts';
import { providerLoginHandlers } from '../routes/accounts/provider-login.ts';
import { homeHandlers } from '../routes/home.ts';
import { signatureRequirement, webhookHandlers } from '../routes/intake.ts';
import { mcpHandlers } from '../routes/mcp.ts';
import { claimHandlers } from '../routes/queue/claims.ts';
import { taskHandlers } from '../routes/queue/tasks.ts';
import { readHandlers } from '../routes/reads.ts';
import { workerHandlers } from '../routes/workers.ts';

/** The hosted API on these dependencies. `answerCheck`: what an answer that the contract does not declare leads to. */
export function createHostedApp(context: HostedContext, answerCheck: 'throw' | 'log'): Express {
  const { storeWatch, log, metrics, now, limits, oauth, address, trustedProxies } = context;
  const { providers } = context;
  const pages = { store: context.engine.store, oauth, providers, resource: address.resource };
  const lost = () => storeWatch.loop.wake();
  // Counted in the store, which may be away.
  const shared = (limiter: RateLimiter) => ({ take: reportingOutages(storeWatch, (key: string) => limiter.take(key)) });
  const handlers = {
    ...serviceHandlers({ surface: hostedSurface, readiness: () => readinessOf(context), now }),
    ...readHandlers(context),
    ...mcpHandlers(context),
    ...workerHandlers(context),
    ...claimHandlers(context),
    ...taskHandlers(context),
    ...webhookHandlers(context),
    ...oauthHandlers({ oauth, address }),
    ...browserHandlers(context),
    ...asPages(
      {
        ...homeHandlers(context),
        ...accountHandlers(pages),
        ...providerLoginHandlers(pages),
        ...consentHandlers(pages),
        ...deviceHandlers(pages),
        ...invitationHandlers(pages),
      },
      lost,
    ),
  };
  return createApp({
    surface: hostedSurface,
    handlers: handlersReportingOutages(storeWatch, handlers),
    authenticators: {
      worker: context.authenticateWorker,
      connection: context.authenticateConnection,
      session: context.authenticateSession,
    },
    log,
    registry: metrics.registry,
    storeReady: () => storeWatch.isConnected,
    answerCheck,
    trustProxy: trustedProxies,
    requireSignature: signatureRequirement(context.webhookSecret),
    ownOrigins: [address.origin],
    notFoundPage: notFoundPage(),
    errorPage,
    limits: {
      address: limits.address,
      routes: {
        token: shared(oauth.tokens),
        registerClient: shared(oauth.registrations),
        startLogin: shared(context.providerLogins),
        connectLogin: shared(context.providerLogins),
        deviceAuthorization: shared(oauth.tokens),
      },
      identity: { worker: limits.worker, connection: limits.connection },
    },
  });
}

/** So many failed rounds of a loop in a row are no accident. */
const FAILING_AFTER = 3;

/** Checks the store again. The loops of this service only read; the monitor writes to the host. */
async function readinessOf({ storeWatch, loops }: HostedContext): Promise<Readiness> {
  const store = await storeWatch.check();
  const stale = loops.some((loop) => loop.state.consecutiveFailures > 0);
  const failing = loops
    .filter((loop) => loop !== storeWatch.loop && loop.state.consecutiveFailures >= FAILING_AFTER)
    .map(({ name }) => ({ name, problem: 'failing' as const }));
  return {
    status: store === 'connected' && failing.length === 0 ? 'ready' : 'not-ready',
    store,
    poll: stale ? 'stale' : 'ok',
    outbox: 'off',
    stream: 'off',
    loops: failing,
  };
}
