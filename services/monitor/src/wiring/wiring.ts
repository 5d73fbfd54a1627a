import { SECOND_MS } from '@pipeline/domain';
import { type Engine, Leader, OpenAiEmbedder } from '@pipeline/engine';
import type { Logger, Metrics } from '@pipeline/runtime';
import { Notifications, openLoopStore, openStore, type Store, type StoreOptions, StoreWatch } from '@pipeline/store';
import type { ConnectedHost } from '../hosts/hosts.ts';
import { LoopSet, type Pace } from '../loops/loop-set.ts';
import type { LoadedConfig } from '../settings/config.ts';
import type { ConfigInForce } from '../settings/config-in-force.ts';
import type { TraceEndpoint } from '../tracing/trace-endpoint.ts';

export interface PipelineOptions {
  databaseUrl: string;
  /** URL of the server itself, not of a pooler. */
  directUrl: string;
  poolSize: number;
  hosts: readonly ConnectedHost[];
  config: ConfigInForce;
  /** This process among the monitors, such as `host:8090`. */
  instance: string;
  /** Variables that the configuration names: secrets of channels, the key of an endpoint. */
  variables: Readonly<Record<string, string | undefined>>;
  /** Address of the Docker engine, as DOCKER_HOST has it. */
  dockerHost: string;
  /** Null or absent = runs are not exported as traces. */
  traceEndpoint?: TraceEndpoint | null;
  log: Logger;
  metrics: Metrics;
  now: () => Date;
  /** Clock of the store; absent = the time of its server. */
  clock?: StoreOptions['clock'];
}

/** Base of every part of the monitor: what its loops, gauges and notification handlers are made of. */
export interface Wiring extends PipelineOptions {
  /** Configuration at the start of the process; keys that a reload defers are read from here. */
  loaded: LoadedConfig;
  /** Pool of the loops. */
  store: Store;
  /** Pool of the routes: loops that wait for a slow store do not use it up. */
  requestStore: Store;
  /** Store of the watch alone. */
  watchedStore: Store;
  notifications: Notifications;
  /** Engine of the loops. */
  engine: Engine;
  storeWatch: StoreWatch;
  loops: LoopSet;
  leader: Leader;
  /** Pace of the lists that are kept in memory. */
  listsEveryMs: Pace;
}

/** Nothing runs and nothing is connected yet. */
export function wire(options: PipelineOptions): Wiring {
  const { config, log, metrics, now } = options;
  const connecting = {
    databaseUrl: options.databaseUrl,
    applicationName: 'monitor',
    clock: options.clock,
    onConnectionError: (error: Error) => log.warn('connection to the store broke', { error }),
  };
  const store = openLoopStore({ ...connecting, poolSize: options.poolSize });
  const requestStore = openStore({
    ...connecting,
    poolSize: Math.max(2, Math.ceil(options.poolSize / 4)),
  });
  const notifications = new Notifications({
    directUrl: options.directUrl,
    applicationName: 'monitor:notifications',
    holder: options.instance,
    log,
  });
  // What it finds stops loops and requests, so neither uses up its connection.
  const watchedStore = openLoopStore({ ...connecting, poolSize: 1 });
  const storeWatch = new StoreWatch({ store: watchedStore, log, metrics: metrics.loops, now });
  const loops = new LoopSet({ storeWatch, log, metrics: metrics.loops, now });
  config.onChange(() => loops.wakeAll());
  return {
    ...options,
    loaded: config.running,
    store,
    requestStore,
    watchedStore,
    notifications,
    engine: {
      ...engineOn(store, notifications, config),
      embedder: new OpenAiEmbedder({ variables: options.variables ?? {}, now }),
    },
    storeWatch,
    loops,
    leader: new Leader(notifications),
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
