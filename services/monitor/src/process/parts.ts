import { readBlockedIssues, readKpis, readTaskQueue } from '@pipeline/engine';
import { createDashboard } from '../analytics/dashboard.ts';
import { consistencyCache, orphanWatch, registerConsistencyGauge } from '../consistency/consistency-cache.ts';
import { type DeadLetterCache, readDeadLetters, registerDeadLetterGauge } from '../dead-letters/dead-letter-cache.ts';
import { createIntake } from '../intake/intake.ts';
import { createHostWriters } from '../outbox/host-writers.ts';
import { ListCache } from '../polling/list-cache.ts';
import { PolledValue } from '../polling/polled-value.ts';
import { registerPipelineGauges, registerRateGauge } from '../prometheus/pipeline-gauges.ts';
import { createStream } from '../stream/live-stream.ts';
import { RunExporter } from '../tracing/run-exporter.ts';
import type { Wiring } from '../wiring/wiring.ts';
import { registerAgentMetrics, registerAgentWork } from '../workers/agent-metrics.ts';
import { createAgents } from '../workers/agents.ts';

/** Parts that the loops of the monitor run and its routes read. */
export type Parts = ReturnType<typeof createParts>;

/** Creates the parts and registers their gauges. Nothing runs yet. */
export function createParts(wiring: Wiring) {
  const { engine, store, hosts, loaded, log, metrics, now, traceEndpoint } = wiring;
  const { registry } = metrics;
  const deadLetters: DeadLetterCache = new ListCache(() => readDeadLetters(store.db), now);
  registerDeadLetterGauge(registry, deadLetters);
  const orphans = loaded.config.consistency.orphans ? orphanWatch(engine, hosts, log) : null;
  const consistency = consistencyCache(engine, orphans, now);
  registerConsistencyGauge(registry, consistency);
  const { agents: configured } = loaded.config;
  const agents = createAgents({ ...wiring, agents: configured, processes: process });
  registerAgentMetrics(registry, agents.snapshots);
  const { dashboard, polled } = createDashboard(wiring, agents.configured);
  registerPipelineGauges(registry, polled, now);
  registerRateGauge(registry, hosts);
  registerAgentWork(registry, polled, agents.snapshots);
  return {
    deadLetters,
    consistency,
    /** null = the configuration turns the search for orphans off. */
    orphans,
    blocked: new PolledValue(() => readBlockedIssues(store), now),
    taskQueue: new PolledValue(() => readTaskQueue(store), now),
    kpis: new PolledValue(() => readKpis(store), now),
    dashboard,
    polled,
    agents,
    stream: createStream(wiring),
    intake: createIntake(wiring),
    writers: createHostWriters(wiring),
    /** null = runs are not exported as traces. */
    exporter: traceEndpoint ? new RunExporter({ endpoint: traceEndpoint, log, registry, now }) : null,
  };
}
