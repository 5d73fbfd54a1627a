import { AGENT_OF, TASK_TYPES, type TaskType } from '@pipeline/domain';
import type { Live } from '@pipeline/engine';
import type { AgentSnapshot } from './agents.ts';

const typesOf = (agentName: string): TaskType[] => TASK_TYPES.filter((type) => AGENT_OF[type] === agentName);

/**
 * The agents whose work has run, as the workers that do it show them: such an agent has no health address of its own. It
 * is reachable while a worker that takes its tasks is online.
 */
export const workerAgents = ({ agentsThatRan, workers }: Live, polledAt: string): AgentSnapshot[] =>
  agentsThatRan.map((agentName) => {
    const types = typesOf(agentName);
    const online = workers.filter(
      ({ status, silent_since, task_types }) =>
        status !== 'offline' && silent_since === null && types.some((type) => task_types.includes(type)),
    );
    const [working] = online.filter(({ task }) => task !== null && types.includes(task.type));
    const reachable = online.length > 0;
    return {
      agentName,
      reachable,
      timestamp: Date.parse(polledAt),
      responseTimeMs: 0,
      health: {
        status: reachable ? 'healthy' : 'stopped',
        uptime: null,
        version: online[0]?.version || null,
        lastError: reachable ? null : 'No worker that takes its tasks is online',
        consecutiveFailures: 0,
        currentTaskId: working?.task?.id ?? null,
      },
      healthySince: null,
      restarts: 0,
      lastRestartAt: null,
      configReload: null,
    };
  });
