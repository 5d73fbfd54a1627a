import type { PipelineConfig } from '@pipeline/domain';
import { type Logger, type LoopMetrics, runPeriodically } from '@pipeline/runtime';
import type { AgentSnapshot } from './agents.ts';
import { HealthWatch } from './health-watch.ts';

interface Deps {
  agents: PipelineConfig['agents'];
  everyMs: () => number;
  log: Logger;
  metrics: LoopMetrics;
  now: () => Date;
}

/** The health of the configured agents, of a monitor that has no store. Restarts need one: there are none. */
export function watchAgentsWithoutStore({ agents, everyMs, log, metrics, now }: Deps): {
  configured(): AgentSnapshot[];
  stop(): Promise<void>;
} {
  const watch = new HealthWatch({ agents, log, now });
  const loop = runPeriodically((signal) => watch.tick(signal), { name: 'agent-health', everyMs, log, metrics, now });
  loop.start();
  return {
    configured: () => watch.configured().map((seen) => ({ ...seen, restarts: 0, lastRestartAt: null })),
    stop: () => loop.stop(),
  };
}
