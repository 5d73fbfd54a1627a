import { agentWork } from '@pipeline/engine';
import { Gauge, type Registry } from 'prom-client';
import { registerGauges, type Sample } from '../prometheus/gauges.ts';
import type { PolledDashboard } from '../prometheus/pipeline-gauges.ts';
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

/** Registers the gauge of the issues that each agent works on, read from the dashboard in memory. */
export function registerAgentWork(
  registry: Registry,
  { counts, live }: PolledDashboard,
  snapshots: () => readonly AgentSnapshot[],
): void {
  registerGauges(registry, [
    {
      name: 'svc_agent_in_flight_issues',
      help: 'Number of issues with a claimed task, by agent.',
      labels: ['agent'],
      read: () => {
        const work = counts.last && live.last ? [...agentWork(counts.last.value, live.last.value)] : [];
        const idle = snapshots().map(({ agentName }): Sample => [{ agent: agentName }, 0]);
        return [...idle, ...work.map(([agent, { inFlightIssues }]): Sample => [{ agent }, inFlightIssues.length])];
      },
    },
  ]);
}
