import type { AlertSeverity } from '../severities.ts';
import type { AgentStatus } from '../workers/agent-health.ts';

export const DASHBOARD_STATUSES = ['healthy', 'degraded', 'unhealthy'] as const;
export type DashboardStatus = (typeof DASHBOARD_STATUSES)[number];

/** What a glance at the whole pipeline is judged by. */
export interface PipelineCondition {
  isStoreConnected: boolean;
  /** Of the alerts that are open. */
  severities: readonly AlertSeverity[];
  agents: readonly { reachable: boolean; status: AgentStatus }[];
  /** Whether what is shown was read lately. */
  isFresh: boolean;
}

/** The store and critical alerts count most; an alert that only informs does not count. */
export function dashboardStatus({ isStoreConnected, severities, agents, isFresh }: PipelineCondition): DashboardStatus {
  if (!isStoreConnected || severities.includes('critical')) return 'unhealthy';
  const areAgentsWell = agents.every(({ reachable, status }) => reachable && status === 'healthy');
  return areAgentsWell && isFresh && !severities.includes('warning') ? 'healthy' : 'degraded';
}
