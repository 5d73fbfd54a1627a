import { Lead } from '../loops/lead.ts';
import { registerAgentMetrics } from '../workers/agent-metrics.ts';
import { type Agents, addAgentLoops, createAgents } from '../workers/agents.ts';
import type { Wiring } from './wiring.ts';

/** The configured agents: their health, and their restarts. */
export function addAgents({
  engine,
  notifications,
  loaded,
  dockerHost,
  loops,
  metrics,
  log,
  now,
  listsEveryMs,
}: Wiring): Agents {
  const agents = createAgents({
    engine,
    agents: loaded.config.agents,
    lead: new Lead(notifications, 'agent-restarts'),
    dockerHost,
    processes: process,
    log,
    now,
  });
  addAgentLoops(loops, agents, listsEveryMs);
  registerAgentMetrics(metrics.registry, agents.snapshots);
  return agents;
}
