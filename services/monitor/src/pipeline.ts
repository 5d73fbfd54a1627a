import type { Readiness } from '@pipeline/contract';
import { type Settings, settingsOf } from '@pipeline/domain';
import { type Engine, type HostOf, LabelWalk, type OrphanWatch, ParentWatch } from '@pipeline/engine';
import { type Logger, type Metrics, sleep } from '@pipeline/runtime';
import { createDoorbell, type Doorbell, openStore, type Store } from '@pipeline/store';
import { StoreWatch } from '@pipeline/store-watch';
import { registerAgentMetrics } from './agents/agent-metrics.ts';
import { type Agents, addAgentLoops, createAgents } from './agents/agents.ts';
import type { LoadedConfig } from './config.ts';
import { type ConsistencyCache, consistencyCache, orphanWatch } from './consistency-cache.ts';
import { type DeadLetterCache, readLetters } from './dead-letter-cache.ts';
import { type ConnectedHost, hostFinder } from './hosts.ts';
import { ListCache } from './list-cache.ts';
import { ConfigSync } from './loops/config-sync.ts';
import { Lead } from './loops/lead.ts';
import { LoopSet } from './loops/loop-set.ts';
import { ProjectionExecutor } from './loops/projections.ts';
import { RepoPoller } from './loops/repo-poller.ts';
import { streamTick } from './loops/stream.ts';
import {
  autoUnblockTick,
  budgetsTick,
  foldTick,
  inboxTick,
  labelWalkTick,
  parentWatchTick,
  reclaimTick,
  releaseDueTick,
  releaseWaitingTick,
  retentionTick,
  scansTick,
  silenceTick,
  slaTick,
  stalledTick,
} from './loops/upkeep.ts';
import { createMonitorMetrics, type MonitorMetrics } from './metrics.ts';
import { EventFeed } from './stream/event-feed.ts';
import { writeQueueGauge } from './write-queue-gauge.ts';

export interface PipelineOptions {
  databaseUrl: string;
  /** To the server itself, not to a pooler. */
  directUrl: string;
  poolSize: number;
  hosts: readonly ConnectedHost[];
  loaded: LoadedConfig;
  /** Where the Docker engine listens, as DOCKER_HOST has it. */
  dockerHost: string;
  log: Logger;
  metrics: Metrics;
  now: () => Date;
}

/** Everything of the monitor that needs a store: what its routes use, and its loops. */
export interface Pipeline {
  engine: Engine;
  letters: DeadLetterCache;
  consistency: ConsistencyCache;
  feed: EventFeed;
  hostOf: HostOf;
  agents: Agents;
  storeWatch: StoreWatch;
  loops: LoopSet;
  health(): Pick<Readiness, 'poll' | 'outbox'>;
  start(): void;
  /** Ends loops, attempts under way, leads and connections, in this order. */
  stop(): Promise<void>;
}

const SECOND_MS = 1_000;

/** Puts the parts together. Nothing runs and nothing is connected before start(), but for status checks. */
export function createPipeline(options: PipelineOptions): Pipeline {
  const { hosts, loaded, log, metrics, now } = options;
  const store = openStore({
    databaseUrl: options.databaseUrl,
    applicationName: 'monitor',
    poolSize: options.poolSize,
    onConnectionError: (error) => log.warn('connection to the store broke', { error }),
  });
  const direct = { directUrl: options.directUrl, applicationName: 'monitor:doorbell' };
  const doorbell = createDoorbell({ ...direct, sleep, log });
  const settings = settingsOf(loaded.config);
  const engine = engineOn(store, doorbell, settings);
  const storeWatch = new StoreWatch({ store, log, metrics: metrics.loops, now });
  const letters = new ListCache(() => readLetters(store.fleet));
  const orphans = loaded.config.consistency.orphans ? orphanWatch(engine, hosts, log) : null;
  const consistency = consistencyCache(engine, orphans);
  const startedAt = now().getTime();
  const feed = new EventFeed({ store, now, uptime: () => (now().getTime() - startedAt) / SECOND_MS });
  const monitorMetrics = createMonitorMetrics(metrics.registry, {
    openStreams: () => feed.clients,
    isStoreConnected: () => storeWatch.isConnected,
    deadLetterRepos: () => letters.all().map(({ repoOwner, repoName }) => `${repoOwner}/${repoName}`),
    findingKinds: () => consistency.all().map(({ kind }) => kind),
  });
  const loops = new LoopSet({ storeWatch, log, metrics: metrics.loops, now });

  const everyMs = settings.pollIntervals.monitor * SECOND_MS;
  const polls = addPolls(loops, { letters, consistency, orphans, everyMs });
  const sync = new ConfigSync({ engine, hosts, loaded, log, ringSettings: () => doorbell.ring('svc_settings') });
  const syncLoop = loops.add('config-sync', 15 * SECOND_MS, () => sync.tick());
  const upkeep = addUpkeep(loops, engine, doorbell);
  const agents = agentsOf(options, engine, doorbell);
  addAgentLoops(loops, agents, everyMs);
  registerAgentMetrics(metrics.registry, agents.snapshots);
  const stream = addStream(loops, { engine, feed, storeWatch });
  const intake = addIntake(loops, { engine, hosts, doorbell, log, now });
  loops.add('write-queue', 15 * SECOND_MS, writeQueueGauge(metrics.registry, store).look);
  const outbox = addOutbox(loops, { engine, hosts, doorbell, log, now, metrics: monitorMetrics });
  doorbell.on('svc_stream', () => stream.wake());
  doorbell.on('svc_settings', () => syncLoop.wake());
  doorbell.on('svc_cache', () => {
    for (const loop of [polls.letters, upkeep.waiting, upkeep.budgets]) loop.wake();
    intake.wake();
  });

  const healthOf = (names: string[]) => (loops.isFresh(names) ? 'ok' : 'stale');
  return {
    engine,
    letters,
    consistency,
    feed,
    hostOf: hostFinder(hosts),
    agents,
    storeWatch,
    loops,
    health: () => ({
      poll: healthOf([polls.letters.name, polls.findings.name, ...intake.names]),
      outbox: outbox.names.length === 0 ? 'off' : healthOf(outbox.names),
    }),
    start() {
      doorbell.start();
      loops.start();
    },
    async stop() {
      await loops.stop();
      await Promise.all([intake.stop(), outbox.stop(), agents.restarter.stop()]);
      await doorbell.close();
      await store.close();
    },
  };
}

interface Polled {
  letters: DeadLetterCache;
  consistency: ConsistencyCache;
  orphans: OrphanWatch | null;
  everyMs: number;
}

/** What is kept in memory. The hosts are asked seldom: each of their answers counts against their limits. */
function addPolls(loops: LoopSet, { letters, consistency, orphans, everyMs }: Polled) {
  const findings = loops.add('consistency', everyMs, () => consistency.refresh());
  if (orphans) {
    loops.add('orphans', 5 * 60 * SECOND_MS, async () => {
      await orphans.look();
      findings.wake();
    });
  }
  return { letters: loops.add('dead-letters', everyMs, () => letters.refresh()), findings };
}

const agentsOf = ({ loaded, dockerHost, log, now }: PipelineOptions, engine: Engine, doorbell: Doorbell): Agents =>
  createAgents({
    engine,
    agents: loaded.config.agents,
    lead: new Lead(doorbell, 'agent-restarts'),
    dockerHost,
    processes: process,
    log,
    now,
  });

/** Tenant 0 stands for all of them. */
const engineOn = (store: Store, doorbell: Doorbell, settings: Settings): Engine => ({
  store,
  ring: (bell, tenantId) => doorbell.ring(bell, tenantId === 0 ? null : [tenantId]),
  settings: () => settings,
  random: Math.random,
});

function addUpkeep(loops: LoopSet, engine: Engine, doorbell: Doorbell) {
  loops.add('reclaim', 5 * SECOND_MS, reclaimTick(engine));
  loops.add('stalled', 5 * SECOND_MS, stalledTick(engine));
  loops.add('worker-silence', 5 * SECOND_MS, silenceTick(engine));
  loops.add('release-due', 5 * SECOND_MS, releaseDueTick(engine));
  loops.add('auto-unblock', 5 * SECOND_MS, autoUnblockTick(engine));
  loops.add('issue-counts', 10 * SECOND_MS, foldTick(engine));
  loops.add('sla', 60 * SECOND_MS, slaTick(engine));
  loops.add('code-map-scans', 10 * SECOND_MS, scansTick(engine, new Lead(doorbell, 'code-map-scans')));
  loops.add('retention', 60 * 60 * SECOND_MS, retentionTick(engine));
  return {
    budgets: loops.add('budgets', 5 * SECOND_MS, budgetsTick(engine)),
    waiting: loops.add('release-waiting', 5 * SECOND_MS, releaseWaitingTick(engine)),
  };
}

interface StreamDeps {
  engine: Engine;
  feed: EventFeed;
  storeWatch: StoreWatch;
}

/** Heartbeats go on while the store is away. */
function addStream(loops: LoopSet, { engine, feed, storeWatch }: StreamDeps) {
  const stream = loops.add('stream', SECOND_MS, streamTick(engine, feed));
  loops.addAlways('stream-heartbeat', SECOND_MS, async () => {
    if (await feed.beat(storeWatch.isConnected)) stream.wake();
  });
  return stream;
}

interface HostDeps {
  engine: Engine;
  hosts: readonly ConnectedHost[];
  doorbell: Doorbell;
  log: Logger;
  now: () => Date;
}

/** One executor for each host, each with a lead of its own. */
function addOutbox(loops: LoopSet, { hosts, doorbell, ...deps }: HostDeps & { metrics: MonitorMetrics }) {
  const executors = hosts.map(({ kind, vcs, budget }) => {
    const lead = new Lead(doorbell, `projections:${kind}`);
    const executor = new ProjectionExecutor({ ...deps, host: vcs, lead, budget });
    const loop = loops.add(`projections-${kind}`, 2 * SECOND_MS, () => executor.tick());
    executor.onLanded = () => loop.wake();
    doorbell.on('svc_projections', () => loop.wake());
    return { executor, name: loop.name };
  });
  return {
    names: executors.map(({ name }) => name),
    stop: () => Promise.all(executors.map(({ executor }) => executor.stop())),
  };
}

/** Without a host there is nothing to poll, and nobody to ask about a webhook: deliveries wait. */
function addIntake(loops: LoopSet, { engine, hosts, doorbell, log, now }: HostDeps) {
  if (hosts.length === 0) return { names: [], wake: () => undefined, stop: async () => undefined };
  const hostOf = hostFinder(hosts);
  const inbox = loops.add('inbox', SECOND_MS, inboxTick(engine, hostOf, new Lead(doorbell, 'inbox')));
  const poller = new RepoPoller({ engine, hostOf, lead: new Lead(doorbell, 'intake-poll'), log, now });
  const poll = loops.add('intake-poll', SECOND_MS, () => poller.tick());
  const parents = new ParentWatch({ engine, hostOf, now, log });
  loops.add('parent-watch', 30 * SECOND_MS, parentWatchTick(parents, new Lead(doorbell, 'parent-watch')));
  const labels = new LabelWalk(engine, now);
  loops.add('label-walk', 60 * SECOND_MS, labelWalkTick(labels, new Lead(doorbell, 'label-walk')));
  return {
    names: [inbox.name, poll.name],
    stop: () => poller.stop(),
    wake() {
      inbox.wake();
      poller.lookAgain();
      poll.wake();
    },
  };
}
