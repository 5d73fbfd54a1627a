import { agentWork } from '@pipeline/engine';
import { registerGauges, type Sample } from '../prometheus/gauges.ts';
import { type PolledDashboard, registerPipelineGauges } from '../prometheus/pipeline-gauges.ts';
import { createTotals } from '../prometheus/totals.ts';
import type { AgentSnapshot } from '../workers/agents.ts';
import type { Wiring } from './wiring.ts';

interface Parts {
  polled: PolledDashboard;
  agents: () => readonly AgentSnapshot[];
}

/** The metrics of the pipeline (interface: Metrics text); those of other parts stand with them. */
export function addPrometheus(
  { metrics, store, loops, hosts, now, listsEveryMs }: Wiring,
  { polled, agents }: Parts,
): void {
  const { registry } = metrics;
  registerPipelineGauges(registry, polled, now);
  registerGauges(registry, [
    {
      name: 'svc_vcs_rate_limit_remaining',
      help: 'Remaining requests in the rate limit window of the host, as last reported.',
      labels: ['client'],
      read: () =>
        hosts.flatMap(({ kind, rate }): Sample[] =>
          rate.remaining === null ? [] : [[{ client: kind }, rate.remaining]],
        ),
    },
    {
      name: 'svc_agent_in_flight_issues',
      help: 'Number of issues with a claimed task, by agent.',
      labels: ['agent'],
      read: () => {
        const [counts, live] = [polled.counts.last, polled.live.last];
        const work =
          counts && live ? agentWork(counts.value, live.value) : new Map<string, { inFlightIssues: string[] }>();
        const idle = agents().map(({ agentName }): Sample => [{ agent: agentName }, 0]);
        return [...idle, ...[...work].map(([agent, { inFlightIssues }]): Sample => [{ agent }, inFlightIssues.length])];
      },
    },
  ]);
  const totals = createTotals(registry, store);
  loops.add('metric-totals', listsEveryMs, () => totals.refresh());
}
