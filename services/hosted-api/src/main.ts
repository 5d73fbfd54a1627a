import { fileURLToPath } from 'node:url';
import { listen } from '@pipeline/http';
import { type Logger, runService, type ServiceContext, withSecretFiles } from '@pipeline/runtime';
import { Notifications, openLoopStore, openStore, requireStore } from '@pipeline/store';
import type { z } from 'zod';
import { createHostedContext } from './context/context.ts';
import { storeDetailsOf } from './context/store-details.ts';
import { createHostedApp } from './process/app.ts';
import { hostedEnv } from './process/env.ts';
import { oauthOptions } from './process/oauth-options.ts';
import { providerOptions } from './process/provider-options.ts';
import { gitIssuers } from './repos/git-access.ts';

type Env = z.output<z.ZodObject<typeof hostedEnv>>;

const NAME = 'hosted-api';
/** The built pages for customers. */
const WEB_DIR = fileURLToPath(new URL('../web/dist', import.meta.url));
/** Four loops, of which each sends one statement at a time. */
const LOOP_POOL_SIZE = 5;
const now = () => new Date();

const environment = withSecretFiles(process.env);

// Not awaited at top level: the bundle is CommonJS, which has no such await.
void runService({ name: NAME, schema: hostedEnv, env: environment, start: (context) => start(context, environment) });

function openStores(env: Env, log: Logger) {
  const options = {
    databaseUrl: env.DATABASE_URL,
    applicationName: NAME,
    onConnectionError: (error: Error) => log.warn('a connection to the store broke', { cause: String(error) }),
  };
  const store = openStore({
    ...options,
    readUrl: env.DATABASE_READ_URL,
    poolSize: env.DATABASE_POOL_SIZE,
    onReplicaError: (error) => log.warn('reads use the primary instead of the replica', { cause: String(error) }),
  });
  return { store, loopStore: openLoopStore({ ...options, poolSize: LOOP_POOL_SIZE }) };
}

/** Parts are added in the order of their start and stopped in reverse: claims that wait first, the store last. */
async function start(
  { env, log, metrics, stack }: ServiceContext<Env>,
  variables: Readonly<Record<string, string | undefined>>,
) {
  const issuerOf = gitIssuers(
    [
      { kind: 'github', apiUrl: env.GITHUB_API_URL, id: env.GITHUB_APP_ID, key: env.GITHUB_APP_PRIVATE_KEY },
      { kind: 'sandbox', apiUrl: env.SANDBOX_URL, id: env.SANDBOX_APP_ID, key: env.SANDBOX_APP_PRIVATE_KEY },
    ],
    { log, now },
  );
  const { store, loopStore } = openStores(env, log);
  stack.add('store', () => Promise.all([store.close(), loopStore.close()]));
  const notifications = new Notifications({
    directUrl: env.DATABASE_DIRECT_URL ?? env.DATABASE_URL,
    applicationName: NAME,
    log,
  });
  stack.add('notifications', () => notifications.close());
  const context = createHostedContext({
    store,
    loopStore,
    notifications,
    log,
    metrics,
    now,
    random: Math.random,
    publicUrl: env.PUBLIC_URL ?? `http://localhost:${env.PORT}`,
    monitorUrl: env.MONITOR_URL,
    storeDetails: env.TELL_STORE_DETAILS ? storeDetailsOf(env.DATABASE_URL) : undefined,
    oauth: oauthOptions(env),
    identityProviders: providerOptions(env),
    trustedProxies: env.TRUSTED_PROXIES,
    webhookSecret: env.GITHUB_WEBHOOK_SECRET,
    issuerOf,
    webDir: WEB_DIR,
    variables,
    limits: {
      connection: env.CONNECTION_RATE_LIMIT,
      org: env.ORG_RATE_LIMIT,
      mcp: env.MCP_RATE_LIMIT,
      address: env.ADDRESS_RATE_LIMIT,
      worker: env.WORKER_RATE_LIMIT,
    },
  });
  if (env.GITHUB_WEBHOOK_SECRET === undefined) log.warn('GITHUB_WEBHOOK_SECRET is not set: webhooks are refused');
  await requireStore(context.storeWatch);
  // Known before the first request comes in; a failure has been logged and is tried again by the loop.
  await context.settings.loop.tick().catch(() => undefined);
  for (const loop of context.loops) {
    loop.start();
    stack.add(loop.name, () => loop.stop());
  }
  notifications.on('svc_tasks', (tenantIds) => context.waiters.wake(tenantIds));
  notifications.on('svc_stream', (tenantIds) => context.changes.changed(tenantIds));
  notifications.on('svc_settings', () => context.settings.loop.wake());
  notifications.start();
  stack.add('returned claims', () => context.waiters.settled());
  const served = await listen(createHostedApp(context, 'log'), { host: env.HOST, port: env.PORT });
  stack.add('server', served.close);
  stack.add('waiting claims', () => context.waiters.close());
  stack.add('streams of changes', () => context.changes.close());
  log.info('listening', { url: served.url });
}
