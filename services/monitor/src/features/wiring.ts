import { type Engine, OpenAiEmbedder } from '@pipeline/engine';
import type { Logger, Metrics } from '@pipeline/runtime';
import {
  createNotifications,
  type Notifications,
  openStore,
  type Store,
  type StoreOptions,
  StoreWatch,
} from '@pipeline/store';
import type { ConnectedHost } from '../hosts/hosts.ts';
import { LoopSet, type Pace } from '../loops/loop-set.ts';
import type { LoadedConfig } from '../settings/config.ts';
import type { ConfigInForce } from '../settings/config-in-force.ts';
import type { TraceEndpoint } from '../tracing/trace-endpoint.ts';

export interface PipelineOptions {
  databaseUrl: string;
  /** To the server itself, not to a pooler. */
  directUrl: string;
  poolSize: number;
  hosts: readonly ConnectedHost[];
  config: ConfigInForce;
  /** This process among the monitors, such as `host:8090`. */
  instance: string;
  /** Where the variables that the configuration names are looked up: secrets of channels, the key of an endpoint. */
  variables: Readonly<Record<string, string | undefined>>;
  /** Where the Docker engine listens, as DOCKER_HOST has it. */
  dockerHost: string;
  /** Null or absent = runs are not exported as traces. */
  traceEndpoint?: TraceEndpoint | null;
  log: Logger;
  metrics: Metrics;
  now: () => Date;
  /** What the store takes for the present; absent = its server's time. */
  clock?: StoreOptions['clock'];
}

/** What every part of the monitor is built on: each adds its loops, its gauges and its notification handlers. */
export interface Wiring extends PipelineOptions {
  /** What the process was started with; keys that a reload defers are read from here. */
  loaded: LoadedConfig;
  store: Store;
  notifications: Notifications;
  engine: Engine;
  storeWatch: StoreWatch;
  loops: LoopSet;
  /** Of the lists that are kept in memory. */
  listsEveryMs: Pace;
}

export const SECOND_MS = 1_000;

/** Nothing runs and nothing is connected yet. */
export function wire(options: PipelineOptions): Wiring {
  const { config, log, metrics, now } = options;
  const store = openStore({
    databaseUrl: options.databaseUrl,
    applicationName: 'monitor',
    poolSize: options.poolSize,
    clock: options.clock,
    onConnectionError: (error) => log.warn('connection to the store broke', { error }),
  });
  const notifications = createNotifications({
    directUrl: options.directUrl,
    applicationName: 'monitor:notifications',
    holder: options.instance,
    log,
  });
  const storeWatch = new StoreWatch({ store, log, metrics: metrics.loops, now });
  const loops = new LoopSet({ storeWatch, log, metrics: metrics.loops, now });
  config.onChange(() => loops.wakeAll());
  return {
    ...options,
    loaded: config.running,
    store,
    notifications,
    engine: {
      ...engineOn(store, notifications, config),
      embedder: new OpenAiEmbedder({ variables: options.variables ?? {}, now }),
    },
    storeWatch,
    loops,
    listsEveryMs: () => config.settings.pollIntervals.monitor * SECOND_MS,
  };
}

/** Tenant 0 stands for all of them. */
const engineOn = (store: Store, notifications: Notifications, config: ConfigInForce): Engine => ({
  store,
  notify: (bell, tenantId) => notifications.notify(bell, tenantId === 0 ? null : [tenantId]),
  settings: () => config.settings,
  random: Math.random,
});
