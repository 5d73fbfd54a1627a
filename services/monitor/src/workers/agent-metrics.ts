import { Gauge, type Registry } from 'prom-client';
import type { AgentSnapshot } from './agents.ts';

/** Gauges of the agents at the last check, read by each scrape. */
export function registerAgentMetrics(registry: Registry, snapshots: () => readonly AgentSnapshot[]): void {
  const common = { labelNames: ['agent'] as const, registers: [registry] };
  new Gauge({
    ...common,
    name: 'svc_agent_up',
    help: '1 while the agent is healthy or degraded.',
    collect() {
      this.reset();
      for (const { agentName, health } of snapshots()) {
        this.set({ agent: agentName }, health.status === 'healthy' || health.status === 'degraded' ? 1 : 0);
      }
    },
  });
  new Gauge({
    ...common,
    name: 'svc_agent_response_seconds',
    help: 'Duration of the last health check of the agent.',
    collect() {
      this.reset();
      for (const { agentName, responseTimeMs } of snapshots()) this.set({ agent: agentName }, responseTimeMs / 1_000);
    },
  });
}
