import { AGENT_OF, type PipelineConfig, TASK_TYPES, type TaskType } from '@pipeline/domain';
import { type Engine, type Leader, type Live, recordReload } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { type AgentSeen, HealthWatch } from './health-watch.ts';
import type { Processes } from './restart-pid.ts';
import { AgentRestarter } from './restarter.ts';

export interface AgentsDeps {
  engine: Engine;
  agents: PipelineConfig['agents'];
  leader: Leader;
  dockerHost: string;
  processes: Processes;
  log: Logger;
  now: () => Date;
}

/** Snapshot of an agent (interface: AgentHealthSnapshot, without its costs and issues, which the store has). */
export interface AgentSnapshot extends AgentSeen {
  /** Number of restarts of all time. */
  restarts: number;
  lastRestartAt: string | null;
}

/** The configured agents: looked at by every monitor, restarted by the one that leads. */
export interface Agents {
  /** Those that were checked since the start, in the order of the configuration. */
  snapshots(): AgentSnapshot[];
  /** All that have a health address, also those that were not checked yet. */
  configured(): AgentSnapshot[];
  watch: HealthWatch;
  /** Brings what agents say of their reloads into the store, each once. */
  tellReloads(): Promise<void>;
  restarter: AgentRestarter;
}

export function createAgents(deps: AgentsDeps): Agents {
  const watch = new HealthWatch(deps);
  const restarter = new AgentRestarter({ ...deps, watch });
  const snapshotOf = (seen: AgentSeen): AgentSnapshot => {
    const { restarts, lastRestartAt } = restarter.restartsOf(seen.agentName);
    return { ...seen, restarts, lastRestartAt };
  };
  return {
    watch,
    tellReloads: reloadRecorder(deps.engine, watch),
    restarter,
    snapshots: () => watch.seen().map(snapshotOf),
    configured: () => watch.configured().map(snapshotOf),
  };
}

function reloadRecorder(engine: Engine, watch: HealthWatch): () => Promise<void> {
  const recorded = new Map<string, string>();
  return async () => {
    for (const { agentName, configReload } of watch.seen()) {
      if (configReload === null || recorded.get(agentName) === configReload.at) continue;
      await recordReload(engine, { agentName, instance: 'agent', outcome: configReload }, null);
      recorded.set(agentName, configReload.at);
    }
  };
}

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
