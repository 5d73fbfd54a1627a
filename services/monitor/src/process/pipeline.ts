import type { Readiness } from '@pipeline/contract';
import type { Engine, HostOf } from '@pipeline/engine';
import { type Metrics, registerReadGauge } from '@pipeline/runtime';
import type { Notifications, StoreWatch } from '@pipeline/store';
import { hostFinder, hostOfKind } from '../hosts/hosts.ts';
import { addLoops, type Loop } from '../loops/add-loops.ts';
import type { LoopSet } from '../loops/loop-set.ts';
import type { RepoRouteDeps } from '../routes/repos.ts';
import type { EventDeps } from '../routes/stream.ts';
import type { EventFeed } from '../stream/event-feed.ts';
import { type PipelineOptions, wire } from '../wiring/wiring.ts';
import { loopTable } from './loop-table.ts';
import { createParts, type Parts } from './parts.ts';

/** Everything of the monitor that needs a store: what its routes use, and its loops. */
export interface Pipeline
  extends Pick<Parts, 'deadLetters' | 'consistency' | 'dashboard' | 'blocked' | 'taskQueue' | 'kpis' | 'agents'> {
  engine: Engine;
  feed: EventFeed;
  repos: EventDeps['repos'];
  hostOf: HostOf;
  hostOfKind: RepoRouteDeps['hostOfKind'];
  storeWatch: StoreWatch;
  notifications: Notifications;
  loops: LoopSet;
  health(): Pick<Readiness, 'poll' | 'outbox' | 'stream' | 'loops'>;
  start(): void;
  /** Waits for what rounds of these loops have begun: deliveries, polls, writes. */
  landed(loops: readonly string[]): Promise<void>;
  /** Ends loops, attempts in progress, leads and connections, in this order. */
  stop(): Promise<void>;
}

/** Puts the parts together. Nothing runs and nothing is connected before start(), but for status checks. */
export function createPipeline(options: PipelineOptions): Pipeline {
  const wiring = wire(options);
  const { store, requestStore, watchedStore, notifications, storeWatch, loops } = wiring;
  registerStoreGauges(options.metrics.registry, storeWatch, notifications);
  const parts = createParts(wiring);
  const { agents, stream, intake, writers, exporter } = parts;
  const table = loopTable(wiring, parts);
  addLoops(table, wiring);

  const healthOf = (field: Loop['health']) => {
    const names = table.filter(({ health }) => health === field).map(({ name }) => name);
    return loops.isFresh(names) ? 'ok' : 'stale';
  };
  return {
    ...parts,
    engine: { ...wiring.engine, store: requestStore },
    feed: stream.feed,
    repos: stream.repos,
    hostOf: hostFinder(options.hosts),
    hostOfKind: hostOfKind(options.hosts),
    storeWatch,
    notifications,
    loops,
    health: () => ({
      poll: healthOf('poll'),
      outbox: writers.length === 0 ? 'off' : healthOf('outbox'),
      stream: healthOf('stream'),
      loops: loops.problems().map(({ loop, problem }) => ({ name: loop, problem })),
    }),
    start() {
      notifications.start();
      loops.start();
    },
    async landed(names) {
      await Promise.all(table.filter(({ name }) => names.includes(name)).map(async (loop) => loop.landed?.()));
    },
    async stop() {
      await loops.stop();
      const writes = writers.map(({ executor }) => executor.stop());
      await Promise.all([intake?.stop(), ...writes, agents.restarter.stop(), exporter?.stop()]);
      await notifications.close();
      await Promise.all([store.close(), requestStore.close(), watchedStore.close()]);
    },
  };
}

function registerStoreGauges(
  registry: Metrics['registry'],
  storeWatch: StoreWatch,
  notifications: Notifications,
): void {
  const help = '1 while the store is reachable and its schema is current.';
  registerReadGauge(registry, 'svc_store_connected', help, () => (storeWatch.isConnected ? 1 : 0));
  const leads = '1 while this monitor is the leader.';
  registerReadGauge(registry, 'svc_leader', leads, () => (notifications.isLeader ? 1 : 0));
}

/** Returns the readiness of a monitor for traffic; `null` = no store is configured, so none is needed. */
export function readinessOf(pipeline: Pick<Pipeline, 'storeWatch' | 'health'> | null): Readiness {
  if (pipeline === null) {
    return { status: 'ready', store: 'not-configured', poll: 'off', outbox: 'off', stream: 'off', loops: [] };
  }
  const { state, isConnected } = pipeline.storeWatch;
  const health = pipeline.health();
  const isReady = isConnected && health.stream === 'ok' && health.loops.length === 0;
  return { status: isReady ? 'ready' : 'not-ready', store: state, ...health };
}
