import type { AlertSeverity } from '../severities.ts';
import type { AgentStatus } from '../workers/agent-health.ts';

export const DASHBOARD_STATUSES = ['healthy', 'degraded', 'unhealthy'] as const;
type DashboardStatus = (typeof DASHBOARD_STATUSES)[number];

/** The inputs of the overall status. */
export interface PipelineCondition {
  isStoreConnected: boolean;
  /** Severities of the open alerts. */
  severities: readonly AlertSeverity[];
  agents: readonly { reachable: boolean; status: AgentStatus }[];
  /** True = the displayed data was read recently. */
  isFresh: boolean;
}

/** The store and critical alerts have priority; informational alerts do not count. */
export function dashboardStatus({ isStoreConnected, severities, agents, isFresh }: PipelineCondition): DashboardStatus {
  if (!isStoreConnected || severities.includes('critical')) return 'unhealthy';
  const areAgentsWell = agents.every(({ reachable, status }) => reachable && status === 'healthy');
  return areAgentsWell && isFresh && !severities.includes('warning') ? 'healthy' : 'degraded';
}
