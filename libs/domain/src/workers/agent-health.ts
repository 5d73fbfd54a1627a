import { MINUTE_MS } from '../windows.ts';

export const AGENT_STATUSES = ['healthy', 'degraded', 'unhealthy', 'stopped'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** How an agent fares, as of the last look. */
export interface AgentHealth {
  status: AgentStatus;
  /** Seconds, as the agent says. */
  uptime: number | null;
  version: string | null;
  lastError: string | null;
  consecutiveFailures: number;
  currentTaskId: string | null;
}

/** What one look at an agent brought: its own word, or why there is none. */
export type AgentLook =
  | ({ kind: 'answered'; problem: string | null } & Pick<
      AgentHealth,
      'status' | 'uptime' | 'version' | 'currentTaskId'
    >)
  /** It answered with an error, or (not reachable) nothing in time. */
  | { kind: 'failed'; reachable: boolean; problem: string }
  /** Nothing listens at its address. */
  | { kind: 'absent'; problem: string };

/** A look that fails once or twice may be a hiccup of the network. */
export const FAILURES_TO_CONDEMN = 3;

/** How long an agent must stay healthy until its restarts no longer count against it; milliseconds. */
export const FORGIVEN_AFTER_MS = 10 * MINUTE_MS;

/**
 * An agent that fails is degraded at first, and from the third look in a row unhealthy, or stopped where nothing
 * listens. What it last said of itself stays known, but for its task and its uptime.
 */
export function agentHealthAfter(before: AgentHealth | null, look: AgentLook): AgentHealth {
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

/** Whether a restart may help: it is down by its own word or by its silence, and not only for a moment. */
export const needsRestart = ({ status, consecutiveFailures }: AgentHealth): boolean =>
  (status === 'unhealthy' || status === 'stopped') && consecutiveFailures >= FAILURES_TO_CONDEMN;
