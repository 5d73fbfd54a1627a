import type { Readiness } from '@pipeline/contract';
import type { Engine, HostOf } from '@pipeline/engine';
import { type Metrics, registerReadGauge } from '@pipeline/runtime';
import { type Notifications, registerServerGauge, type Store, type StoreWatch } from '@pipeline/store';
import type { Dashboard } from '../analytics/dashboard.ts';
import { addAgents } from '../features/agents.ts';
import { addAlerts } from '../features/alerts.ts';
import { addConsistency, type ConsistencyCache } from '../features/consistency.ts';
import { addDashboard } from '../features/dashboard.ts';
import { addDeadLetters, type DeadLetterCache } from '../features/dead-letters.ts';
import { addIntake } from '../features/intake.ts';
import { addLists } from '../features/lists.ts';
import { addLoopWatch } from '../features/loop-watch.ts';
import { addOutbox } from '../features/outbox.ts';
import { addPrometheus } from '../features/prometheus.ts';
import { addRegressionGuard } from '../features/regression-guard.ts';
import { addRollups } from '../features/rollups.ts';
import { addSettings } from '../features/settings.ts';
import { addStrategy } from '../features/strategy.ts';
import { addStream } from '../features/stream.ts';
import { addTracing } from '../features/tracing.ts';
import { addTracks } from '../features/tracks.ts';
import { addUpkeep } from '../features/upkeep.ts';
import { type PipelineOptions, wire } from '../features/wiring.ts';
import { hostFinder, hostOfKind } from '../hosts/hosts.ts';
import type { LoopSet } from '../loops/loop-set.ts';
import type { RegressionGuardDeps } from '../routes/alerts/regression-guard.ts';
import type { BlockedIssueDeps } from '../routes/issues/blocked-issues.ts';
import type { TaskQueueDeps } from '../routes/queue/task-queue.ts';
import type { RepoRouteDeps } from '../routes/repos.ts';
import type { EventDeps } from '../routes/stream.ts';
import type { EventFeed } from '../stream/event-feed.ts';
import type { Agents } from '../workers/agents.ts';

/** Everything of the monitor that needs a store: what its routes use, and its loops. */
export interface Pipeline extends BlockedIssueDeps, TaskQueueDeps, RegressionGuardDeps {
  engine: Engine;
  deadLetters: DeadLetterCache;
  consistency: ConsistencyCache;
  dashboard: Dashboard;
  feed: EventFeed;
  repos: EventDeps['repos'];
  hostOf: HostOf;
  hostOfKind: RepoRouteDeps['hostOfKind'];
  agents: Agents;
  storeWatch: StoreWatch;
  notifications: Notifications;
  loops: LoopSet;
  health(): Pick<Readiness, 'poll' | 'outbox' | 'stream' | 'loops'>;
  start(): void;
  /** Waits for the polls and writes that ticks have begun. */
  landed(): Promise<void>;
  /** Ends loops, attempts in progress, leads and connections, in this order. */
  stop(): Promise<void>;
}

/** Puts the parts together. Nothing runs and nothing is connected before start(), but for status checks. */
export function createPipeline(options: PipelineOptions): Pipeline {
  const wiring = wire(options);
  const { engine, store, notifications, storeWatch, loops } = wiring;
  registerStoreGauges(options.metrics.registry, storeWatch, store);
  const { deadLetters, loop: deadLettersLoop } = addDeadLetters(wiring);
  const { consistency, loop: findingsLoop } = addConsistency(wiring);
  const lists = addLists(wiring);
  addSettings(wiring);
  addAlerts(wiring, { consistency });
  addUpkeep(wiring);
  addLoopWatch(wiring);
  addRollups(wiring);
  addStrategy(wiring);
  addTracks(wiring);
  const tracing = addTracing(wiring);
  const agents = addAgents(wiring);
  const { dashboard, polled, loops: dashboardLoops } = addDashboard(wiring, agents.configured);
  addPrometheus(wiring, { polled, agents: agents.snapshots });
  const stream = addStream(wiring);
  const intake = addIntake(wiring);
  const outbox = addOutbox(wiring);

  const healthOf = (names: string[]) => (loops.isFresh(names) ? 'ok' : 'stale');
  return {
    engine,
    deadLetters,
    consistency,
    dashboard,
    blocked: lists.blocked,
    taskQueue: lists.taskQueue,
    kpis: addRegressionGuard(wiring).kpis,
    feed: stream.feed,
    repos: stream.repos,
    hostOf: hostFinder(options.hosts),
    hostOfKind: hostOfKind(options.hosts),
    agents,
    storeWatch,
    notifications,
    loops,
    health: () => ({
      poll: healthOf([deadLettersLoop, findingsLoop, ...lists.loops, ...dashboardLoops, ...intake.loops]),
      outbox: outbox.loops.length === 0 ? 'off' : healthOf(outbox.loops),
      stream: healthOf([stream.loop]),
      loops: loops.problems().map(({ loop, problem }) => ({ name: loop, problem })),
    }),
    start() {
      notifications.start();
      loops.start();
    },
    async landed() {
      await Promise.all([intake.landed(), outbox.landed()]);
    },
    async stop() {
      await loops.stop();
      await Promise.all([intake.stop(), outbox.stop(), agents.restarter.stop(), tracing.stop()]);
      await notifications.close();
      await store.close();
    },
  };
}

function registerStoreGauges(registry: Metrics['registry'], storeWatch: StoreWatch, store: Store): void {
  const help = '1 while the store is reachable and its schema is current.';
  registerReadGauge(registry, 'svc_store_connected', help, () => (storeWatch.isConnected ? 1 : 0));
  registerServerGauge(registry, store);
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
