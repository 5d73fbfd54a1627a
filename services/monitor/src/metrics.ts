import { CONSISTENCY_KINDS } from '@pipeline/domain';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface MonitorMetrics {
  projectionAttempts: Counter<'type' | 'outcome'>;
  projectionLag: Histogram;
}

interface Readings {
  isStoreConnected: () => boolean;
  openStreams: () => number;
  /** Slugs of the repos of all unresolved dead letters, one for each letter. */
  deadLetterRepos: () => string[];
  /** Kinds of all consistency findings, one for each finding. */
  findingKinds: () => string[];
}

/** Gauges are read when they are asked for. */
export function createMonitorMetrics(registry: Registry, readings: Readings): MonitorMetrics {
  const registers = [registry];
  new Gauge({
    name: 'svc_store_connected',
    help: '1 while the store is reachable and its schema is current.',
    registers,
    collect() {
      this.set(readings.isStoreConnected() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'svc_sse_clients',
    help: 'Event streams that are open.',
    registers,
    collect() {
      this.set(readings.openStreams());
    },
  });
  new Gauge({
    name: 'svc_dead_letters_unresolved',
    help: 'Transitions that failed for good and that nobody has resolved.',
    labelNames: ['repo'],
    registers,
    collect() {
      this.reset();
      for (const repo of readings.deadLetterRepos()) this.inc({ repo });
    },
  });
  new Gauge({
    name: 'svc_consistency_findings',
    help: 'Records that contradict each other, as of the last look.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const kind of CONSISTENCY_KINDS) this.set({ kind }, 0);
      for (const kind of readings.findingKinds()) this.inc({ kind });
    },
  });
  return {
    projectionAttempts: new Counter({
      name: 'svc_projection_attempts_total',
      help: 'Attempts to write an outbox entry to the host.',
      labelNames: ['type', 'outcome'],
      registers,
    }),
    projectionLag: new Histogram({
      name: 'svc_projection_lag_seconds',
      help: 'From the change in the store to its appearance on the host.',
      buckets: [0.1, 0.5, 1, 2, 5, 15, 60, 300, 1_800, 7_200],
      registers,
    }),
  };
}
