import { createHostedApp, createHostedContext, type HostedOptions } from '@pipeline/hosted-api';
import { createMetrics } from '@pipeline/runtime';
import { Notifications, openLoopStore, openStore } from '@pipeline/store';
import type { Service, Surroundings } from './service.ts';

export const SECRET = 'hook-secret';

const OAUTH: HostedOptions['oauth'] = {
  keys: ['a key of the tests, long enough to be one'],
  lifetimes: { accessSeconds: 600, refreshSeconds: 2_592_000, connectionSeconds: 31_536_000 },
  limits: { logins: 0, registrations: 0, tokens: 0 },
};

export async function hostedService({ databaseUrl, now, log }: Surroundings): Promise<Service> {
  const onConnectionError = () => undefined;
  const connecting = { databaseUrl, applicationName: 'hosted-api', clock: now, onConnectionError };
  const store = openStore({ ...connecting, poolSize: 4 });
  const loopStore = openLoopStore({ ...connecting, poolSize: 2 });
  const notifications = new Notifications({ directUrl: databaseUrl, applicationName: 'hosted-api', log });
  const context = createHostedContext({
    store,
    loopStore,
    notifications,
    log,
    metrics: createMetrics(),
    now,
    random: () => 0.5,
    publicUrl: 'http://127.0.0.1',
    monitorUrl: undefined,
    storeDetails: undefined,
    oauth: OAUTH,
    trustedProxies: 0,
    webhookSecret: SECRET,
    issuerOf: () => null,
    limits: { connection: 0, org: 0, mcp: 0, address: 0, worker: 0 },
  });
  await context.storeWatch.check();
  await context.settings.loop.tick();
  notifications.on('svc_tasks', (tenantIds) => context.waiters.wake(tenantIds));
  notifications.start();
  const loops = new Map(context.loops.map((loop) => [loop.name, loop]));
  return {
    app: createHostedApp(context, 'throw'),
    async tick(names) {
      for (const name of names) await loops.get(name)?.tick();
    },
    async stop() {
      await context.waiters.close();
      await context.waiters.settled();
      await Promise.all(context.loops.map((loop) => loop.stop()));
      await notifications.close();
      await Promise.all([store.close(), loopStore.close()]);
    },
  };
}
