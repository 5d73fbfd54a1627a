import { parsePipelineConfig } from '@pipeline/domain';
import {
  ConfigInForce,
  createAuthentication,
  createMonitorApp,
  createPipeline,
  type Pipeline,
} from '@pipeline/monitor';
import { createMetrics } from '@pipeline/runtime';
import type { CutProxy } from '@pipeline/testing';
import type { HostConnection } from './host-connection.ts';
import type { Service, Surroundings } from './service.ts';

const OLGA = { username: 'olga', password: 'a password of the tests' };
export const BASIC = `Basic ${Buffer.from(`${OLGA.username}:${OLGA.password}`).toString('base64')}`;

/** Repos are due for a poll after a second. */
const LOADED = {
  source: 'test',
  config: parsePipelineConfig({ pollIntervals: { sprintMaster: 1 } }),
  ownBranch: new Set<never>(),
};

export interface MonitorService extends Service {
  pipeline: Pipeline;
  connection: HostConnection;
  /** Breaks the session that holds the leader lock. `up` settles when there is a new one. */
  loseLeaderLock(): Promise<{ up: () => Promise<void> }>;
}

/** @param direct proxy of the session that holds the leader lock. */
export async function monitorService(
  { databaseUrl, now, log }: Surroundings,
  { direct, connection }: { direct: CutProxy; connection: HostConnection },
): Promise<MonitorService> {
  const metrics = createMetrics();
  const config = new ConfigInForce({ loaded: LOADED, path: undefined, variables: {}, log, now });
  const rate = { remaining: null, limitedMinutes: () => 0 };
  const pipeline = createPipeline({
    databaseUrl,
    directUrl: direct.url,
    poolSize: 4,
    config,
    log,
    metrics,
    now,
    clock: now,
    hosts: [
      { kind: 'sandbox', vcs: connection.vcs, budget: null, rate, cloneUrl: () => 'http://127.0.0.1/no/where.git' },
    ],
    instance: 'test',
    variables: {},
    dockerHost: 'unix:///nowhere.sock',
  });
  await pipeline.storeWatch.check();
  // Only a new session notifies this channel for all tenants.
  let onUp: () => void = () => undefined;
  const up = () =>
    new Promise<void>((resolve) => {
      onUp = resolve;
    });
  pipeline.notifications.on('svc_tasks', (tenants) => tenants === null && onUp());
  const isUp = up();
  pipeline.notifications.start();
  await isUp;
  const database = { host: null, port: 5432, poolSize: 4 };
  const app = createMonitorApp({
    auth: createAuthentication({ logins: [OLGA], loginAttempts: 0, now }),
    pipeline,
    dashboard: pipeline.dashboard,
    readiness: () => ({ status: 'ready', store: pipeline.storeWatch.state, ...pipeline.health() }),
    config: {
      summary: () => ({ config, database, connected: true, isSet: () => false, agents: [], uptime: 1 }),
      reports: async () => [],
      repos: async () => [],
    },
    logs: null,
    webDir: '/nonexistent',
    requestsPerMinute: 0,
    streamLimits: { perCredential: 0, inAll: 0 },
    trustedProxies: 0,
    answerCheck: 'throw',
    log,
    registry: metrics.registry,
    now,
    metricsKeptMs: 0,
  });
  return {
    app,
    pipeline,
    connection,
    async loseLeaderLock() {
      const again = up();
      direct.cut();
      await direct.gone();
      direct.restore();
      return { up: () => again };
    },
    async tick(names) {
      for (const name of names) await pipeline.loops.tick(name);
      // A poll in progress may wait for these rounds.
      await pipeline.landed(names);
    },
    stop: () => pipeline.stop(),
  };
}
