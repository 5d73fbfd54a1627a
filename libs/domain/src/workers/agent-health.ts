import { MINUTE_MS } from '../windows.ts';

export const AGENT_STATUSES = ['healthy', 'degraded', 'unhealthy', 'stopped'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** Health of an agent at the last check. */
export interface AgentHealth {
  status: AgentStatus;
  /** Seconds, as reported by the agent. */
  uptime: number | null;
  version: string | null;
  lastError: string | null;
  consecutiveFailures: number;
  currentTaskId: string | null;
}

/** Result of one check of an agent: the status that it reported, or the kind of failure. */
export type AgentObservation =
  | ({ kind: 'answered'; problem: string | null } & Pick<
      AgentHealth,
      'status' | 'uptime' | 'version' | 'currentTaskId'
    >)
  /** It answered with an error, or (not reachable) not in time. */
  | { kind: 'failed'; reachable: boolean; problem: string }
  /** Nothing listens at its address. */
  | { kind: 'absent'; problem: string };

/** One or two failed checks may be a temporary network problem. */
const FAILURES_TO_CONDEMN = 3;

/** Time that an agent must stay healthy before its restart attempts are reset; milliseconds. */
export const FORGIVEN_AFTER_MS = 10 * MINUTE_MS;

/**
 * A failing agent is degraded at first, and from the third consecutive check unhealthy, or stopped if nothing listens.
 * Its last report is kept, except for task and uptime.
 */
export function agentHealthAfter(before: AgentHealth | null, look: AgentObservation): AgentHealth {
  if (look.kind === 'answered') {
    const { status, uptime, version, currentTaskId, problem } = look;
    const isFailure = status === 'unhealthy' || status === 'stopped';
    const consecutiveFailures = isFailure ? (before?.consecutiveFailures ?? 0) + 1 : 0;
    return { status, uptime, version, currentTaskId, consecutiveFailures, lastError: problem };
  }
  const consecutiveFailures = (before?.consecutiveFailures ?? 0) + 1;
  const condemned = look.kind === 'absent' ? 'stopped' : 'unhealthy';
  return {
    status: consecutiveFailures < FAILURES_TO_CONDEMN ? 'degraded' : condemned,
    uptime: null,
    version: before?.version ?? null,
    lastError: look.problem,
    consecutiveFailures,
    currentTaskId: null,
  };
}

/** Returns whether a restart may help: it has been down for several checks, by its own report or by not answering. */
export const needsRestart = ({ status, consecutiveFailures }: AgentHealth): boolean =>
  (status === 'unhealthy' || status === 'stopped') && consecutiveFailures >= FAILURES_TO_CONDEMN;
