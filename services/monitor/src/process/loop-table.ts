import { HOUR_MS, MINUTE_MS, SECOND_MS } from '@pipeline/domain';
import {
  aggregateCounts,
  autoUnblock,
  type Engine,
  embedItems,
  enqueueDueScans,
  expireIntelligence,
  type OrphanWatch,
  reclaimExpired,
  reclaimStalled,
  releaseDue,
  releaseWaiting,
  runDueTracks,
  watchKpis,
  watchSilence,
  watchSla,
  writeDailyDigest,
} from '@pipeline/engine';
import { closeFacts } from '@pipeline/store';
import { Counter } from 'prom-client';
import { AlertDeliverer } from '../alerts/deliverer.ts';
import { detectorRounds } from '../alerts/detection.ts';
import { OutageWatch } from '../alerts/outage.ts';
import type { ConsistencyCache } from '../consistency/consistency-cache.ts';
import { inboxGauges } from '../intake/inbox-gauges.ts';
import type { createIntake } from '../intake/intake.ts';
import type { Loop } from '../loops/add-loops.ts';
import { runRetention } from '../loops/retention.ts';
import { checkProtections, enforceCurrentBudgets, releaseCompared, runStrategies } from '../loops/upkeep.ts';
import type { createHostWriters } from '../outbox/host-writers.ts';
import { writeQueueGauge } from '../outbox/write-queue-gauge.ts';
import { createTotals } from '../prometheus/totals.ts';
import { ConfigSync } from '../settings/config-sync.ts';
import { SettingsSync } from '../settings/settings-sync.ts';
import type { createStream } from '../stream/live-stream.ts';
import type { RunExporter } from '../tracing/run-exporter.ts';
import { overdueGauge } from '../tracks/overdue-gauge.ts';
import type { Wiring } from '../wiring/wiring.ts';
import type { Agents } from '../workers/agents.ts';
import { createLoopWatch } from './loop-watch.ts';

interface Refreshed {
  refresh(): Promise<void>;
}

/** Parts that the loops run. */
interface Parts extends Record<'deadLetters' | 'blocked' | 'taskQueue' | 'kpis', Refreshed> {
  consistency: ConsistencyCache;
  /** null = the configuration turns the search for orphans off. */
  orphans: OrphanWatch | null;
  polled: Record<'counts' | 'live' | 'figures', Refreshed>;
  agents: Agents;
  stream: ReturnType<typeof createStream>;
  intake: ReturnType<typeof createIntake>;
  writers: ReturnType<typeof createHostWriters>;
  exporter: RunExporter | null;
}

/** All loops of the monitor. */
export const loopTable = (wiring: Wiring, parts: Parts): Loop[] => [
  ...listLoops(wiring, parts),
  ...settingsLoops(wiring),
  ...alertLoops(wiring, parts),
  ...queueLoops(wiring),
  ...upkeepLoops(wiring),
  ...analyticsLoops(wiring, parts),
  ...agentLoops(wiring, parts),
  ...streamLoops(wiring, parts),
  ...intakeLoops(wiring, parts),
  ...outboxLoops(wiring, parts),
];

/** Lists in memory. Orphans are read rarely, because each request counts against the rate limit of the host. */
function listLoops({ loops, listsEveryMs }: Wiring, parts: Parts): Loop[] {
  const { deadLetters, consistency, orphans, blocked, taskQueue } = parts;
  const list = { everyMs: listsEveryMs, health: 'poll' } as const;
  const findOrphans = async () => {
    await orphans?.check();
    loops.wake('consistency');
  };
  return [
    { ...list, name: 'dead-letters', wakeOn: 'svc_cache', run: () => deadLetters.refresh() },
    { ...list, name: 'consistency', run: () => consistency.refresh() },
    ...(orphans ? [{ name: 'orphans', everyMs: 5 * MINUTE_MS, run: findOrphans }] : []),
    { ...list, name: 'blocked-issues', wakeOn: 'svc_cache', run: () => blocked.refresh() },
    { ...list, name: 'task-queue', run: () => taskQueue.refresh() },
  ];
}

/** Loops that bring the repos and settings of the configuration into the store. */
function settingsLoops({ engine, hosts, config, instance, log, notifications }: Wiring): Loop[] {
  const ringSettings = () => notifications.notify('svc_settings');
  const settings = new SettingsSync({ engine, config, instance, ringSettings, log });
  const repos = new ConfigSync({ engine, hosts, config, log });
  return [
    { name: 'settings', everyMs: 15 * SECOND_MS, wakeOn: 'svc_settings', run: () => settings.tick() },
    { name: 'config-sync', everyMs: 15 * SECOND_MS, run: () => repos.tick() },
  ];
}

/** The detectors and the notifications. One of all monitors runs them, except for the outage of the store. */
function alertLoops(wiring: Wiring, { consistency, kpis }: Parts): Loop[] {
  const { engine, leader, hosts, instance, log, now, storeWatch, variables } = wiring;
  const detect = detectorRounds({ consistency, hosts });
  const channels = { variables, log, now };
  const deliverer = new AlertDeliverer({ engine, leader, ...channels });
  const outage = new OutageWatch({ engine, storeWatch, instance, ...channels });
  const loopWatch = createLoopWatch(wiring);
  const guard = async (leading: Engine) => again((await watchKpis(leading)).more);
  return [
    { name: 'alert-detectors', everyMs: MINUTE_MS, runAsLeader: detect },
    { name: 'alert-deliveries', everyMs: 5 * SECOND_MS, run: () => deliverer.tick() },
    { name: 'daily-digest', everyMs: MINUTE_MS, runAsLeader: writeDailyDigest },
    { name: 'regression-guard', everyMs: MINUTE_MS, runAsLeader: guard },
    { name: 'regression-guard-list', everyMs: MINUTE_MS, run: () => kpis.refresh() },
    { name: 'loop-watch', everyMs: 15 * SECOND_MS, run: () => loopWatch.check() },
    { name: 'store-outage', everyMs: 5 * SECOND_MS, isAlways: true, run: () => outage.tick() },
  ];
}

/** Work on the queue. It acts on each row by compare-and-set, so any number of replicas may do it at once. */
function queueLoops({ engine, metrics, log }: Wiring): Loop[] {
  const unblocks = new Counter({
    name: 'svc_auto_unblocks_total',
    help: 'Automatic unblocks by this process.',
    labelNames: ['repo'],
    registers: [metrics.registry],
  });
  const unblock = () => autoUnblock(engine, (repo) => unblocks.inc({ repo }));
  const everyMs = 5 * SECOND_MS;
  return [
    { name: 'reclaim', everyMs, run: () => reclaimExpired(engine) },
    { name: 'stalled', everyMs, run: () => reclaimStalled(engine) },
    { name: 'worker-silence', everyMs, run: () => watchSilence(engine) },
    { name: 'release-due', everyMs, run: () => releaseDue(engine) },
    { name: 'release-compared', everyMs: 30 * SECOND_MS, run: () => releaseCompared(engine, log) },
    { name: 'auto-unblock', everyMs, run: unblock },
    { name: 'budgets', everyMs, wakeOn: 'svc_cache', run: () => enforceCurrentBudgets(engine) },
    { name: 'release-waiting', everyMs, wakeOn: 'svc_cache', run: () => releaseWaiting(engine) },
  ];
}

/** Work that is due by the clock. Embeddings cost money with each call, so the leader makes them. */
function upkeepLoops({ engine, metrics, log }: Wiring): Loop[] {
  const overdue = overdueGauge(metrics.registry, engine);
  const sla = async () => again((await watchSla(engine)).more);
  const embed = async (leading: Engine) => again((await embedItems(leading)).more);
  const expire = async () => again((await expireIntelligence(engine)).more);
  const retain = (leading: Engine, signal: AbortSignal) => runRetention(leading, log, signal);
  const strategies = (leading: Engine) => runStrategies(leading, log);
  return [
    { name: 'issue-counts', everyMs: 10 * SECOND_MS, run: () => aggregateCounts(engine) },
    { name: 'sla', everyMs: MINUTE_MS, run: sla },
    { name: 'code-map-scans', everyMs: 10 * SECOND_MS, runAsLeader: enqueueDueScans },
    { name: 'intelligence-embeddings', everyMs: 30 * SECOND_MS, runAsLeader: embed },
    { name: 'stale-intelligence', everyMs: HOUR_MS, run: expire },
    { name: 'retention', everyMs: HOUR_MS, runAsLeader: retain },
    { name: 'strategy', everyMs: 15 * SECOND_MS, runAsLeader: strategies },
    { name: 'tracks', everyMs: 10 * SECOND_MS, wakeOn: 'svc_cache', runAsLeader: runDueTracks },
    { name: 'tracks-overdue', everyMs: 30 * SECOND_MS, run: () => overdue.look() },
  ];
}

/**
 * Rollups, the dashboard, metrics and traces. Readers add the facts that are not closed yet, so the pace of `rollups`
 * affects their cost and not their results.
 */
function analyticsLoops({ engine, store, metrics, listsEveryMs }: Wiring, { polled, exporter }: Parts): Loop[] {
  const totals = createTotals(metrics.registry, store);
  const exportRuns = async ({ store }: Engine) => again(await exporter?.exportNext(store));
  const figuresEveryMs = () => engine.settings().pollIntervals.metricsRefreshMin * MINUTE_MS;
  const { counts, live, figures } = polled;
  return [
    { name: 'rollups', everyMs: 5 * MINUTE_MS, run: async () => again(await closeFacts(store.db)) },
    { name: 'dashboard-counts', everyMs: 3 * SECOND_MS, health: 'poll', run: () => counts.refresh() },
    { name: 'dashboard', everyMs: listsEveryMs, health: 'poll', run: () => live.refresh() },
    { name: 'dashboard-figures', everyMs: figuresEveryMs, health: 'poll', run: () => figures.refresh() },
    { name: 'metric-totals', everyMs: listsEveryMs, run: () => totals.refresh() },
    ...(exporter ? [{ name: 'trace-export', everyMs: 5 * SECOND_MS, runAsLeader: exportRuns }] : []),
  ];
}

/** Agents are checked also while the store is not available; restarts need it. */
function agentLoops({ loops, listsEveryMs: everyMs }: Wiring, { agents }: Parts): Loop[] {
  const { watch, restarter, tellReloads } = agents;
  const checkHealth = async (signal: AbortSignal) => {
    await watch.tick(signal);
    loops.wake('agent-restarts');
    loops.wake('agent-reloads');
  };
  return [
    { name: 'agent-restarts', everyMs, run: () => restarter.tick() },
    { name: 'agent-reloads', everyMs, run: tellReloads },
    { name: 'agent-health', everyMs, isAlways: true, run: checkHealth },
  ];
}

/** The event stream. Heartbeats go on while the store is away. */
function streamLoops({ loops, storeWatch }: Wiring, { stream: { feed, follower, repos } }: Parts): Loop[] {
  const beat = async () => {
    if (!(await feed.beat(storeWatch.isConnected))) return;
    follower.look();
    loops.wake('stream');
  };
  return [
    { name: 'stream-repos', everyMs: MINUTE_MS, run: () => repos.refresh() },
    { name: 'stream', everyMs: SECOND_MS, health: 'stream', run: () => follower.tick() },
    { name: 'stream-heartbeat', everyMs: SECOND_MS, isAlways: true, run: beat },
  ];
}

/** Reads of the hosts. One replica handles deliveries, so that those of one issue are handled in their order. */
function intakeLoops({ metrics, store, log }: Wiring, { intake }: Parts): Loop[] {
  const backlog: Loop = {
    name: 'inbox-backlog',
    everyMs: 15 * SECOND_MS,
    run: inboxGauges(metrics.registry, store).refresh,
  };
  if (intake === null) return [backlog];
  const { deliveries, poller, parents, labels, hostOf } = intake;
  const handle = (leading: Engine) => deliveries.step(leading);
  const watchParents = (leading: Engine) => parents.check(leading);
  const reconcile = async (leading: Engine) => again((await labels.step(leading)).more);
  const protections = (leading: Engine) => checkProtections(leading, hostOf, log);
  const poll = { everyMs: SECOND_MS, health: 'poll' } as const;
  return [
    backlog,
    {
      ...poll,
      name: 'inbox',

      wakeOn: 'svc_inbox',
      runAsLeader: handle,
      landed: () => deliveries.settled(),
    },
    {
      ...poll,
      name: 'intake-poll',

      wakeOn: 'svc_cache',
      run: () => poller.tick(),
      landed: () => poller.landed(),
    },
    { name: 'parent-watch', everyMs: 30 * SECOND_MS, runAsLeader: watchParents },
    { name: 'label-walk', everyMs: MINUTE_MS, runAsLeader: reconcile },
    {
      name: 'push-protection',
      everyMs: 5 * MINUTE_MS,

      wakeOn: 'svc_cache',
      runAsLeader: protections,
    },
  ];
}

/** Writes to the hosts: one executor for each host. */
function outboxLoops({ metrics, store }: Wiring, { writers }: Parts): Loop[] {
  const queue = writeQueueGauge(metrics.registry, store);
  const writes = { everyMs: 2 * SECOND_MS, wakeOn: 'svc_projections', health: 'outbox' } as const;
  return [
    { name: 'write-queue', everyMs: 15 * SECOND_MS, run: () => queue.look() },
    ...writers.map(({ loop, executor }) => ({
      ...writes,
      name: loop,

      run: () => executor.tick(),
      landed: () => executor.landed(),
    })),
  ];
}

const again = (more: boolean | undefined): 'again' | undefined => (more ? 'again' : undefined);
