import { type AgentHealth, agentHealthAfter, type ConfigReloadOutcome, type PipelineConfig } from '@pipeline/domain';
import type { Logger } from '@pipeline/runtime';
import { checkAgent } from './agent-check.ts';

/** An agent as it was at the last look (interface: AgentHealthSnapshot, without what the store knows of it). */
export interface AgentSeen {
  agentName: string;
  /** Whether it answered at all, be it with an error. */
  reachable: boolean;
  /** Epoch milliseconds of the look. */
  timestamp: number;
  responseTimeMs: number;
  health: AgentHealth;
  /** Since when it is healthy without a break, in epoch milliseconds; null while it is not. */
  healthySince: number | null;
  /** What it last said of a reload of its configuration. */
  configReload: ConfigReloadOutcome | null;
}

interface WatchDeps {
  agents: PipelineConfig['agents'];
  log: Logger;
  now: () => Date;
}

/** Longer than an agent that is only busy takes, shorter than the pace of the loop. */
export const CHECK_TIMEOUT_MS = 5_000;

/**
 * What this monitor knows of the configured agents; each monitor looks for itself. A round takes LOOK_TIMEOUT_MS at the
 * most, because all agents are asked at once.
 */
export class HealthWatch {
  readonly #deps: WatchDeps;
  readonly #seen = new Map<string, AgentSeen>();
  readonly #startedAt: number;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
    this.#startedAt = deps.now().getTime();
  }

  /** Agents that were looked at, by name; in the order of the configuration. */
  seen(): AgentSeen[] {
    return Object.keys(this.#deps.agents).flatMap((name) => this.#seen.get(name) ?? []);
  }

  /** All agents that have a health address, in the order of the configuration; one not checked yet is `stopped`. */
  configured(): AgentSeen[] {
    return Object.entries(this.#deps.agents).flatMap(([name, agent]) =>
      agent?.url === undefined ? [] : [this.#seen.get(name) ?? neverSeen(name, this.#startedAt)],
    );
  }

  async tick(signal?: AbortSignal): Promise<void> {
    const addresses = Object.entries(this.#deps.agents).flatMap(([name, agent]) =>
      agent?.url === undefined ? [] : [{ name, url: agent.url }],
    );
    await Promise.all(addresses.map(({ name, url }) => this.#look(name, url, signal)));
  }

  async #look(agentName: string, url: string, signal: AbortSignal | undefined): Promise<void> {
    const { log, now } = this.#deps;
    const before = this.#seen.get(agentName);
    const began = performance.now();
    const look = await checkAgent(url, CHECK_TIMEOUT_MS, signal);
    if (signal?.aborted) return;
    const health = agentHealthAfter(before?.health ?? null, look);
    const timestamp = now().getTime();
    this.#seen.set(agentName, {
      agentName,
      reachable: look.kind === 'answered' || (look.kind === 'failed' && look.reachable),
      timestamp,
      responseTimeMs: Math.round(performance.now() - began),
      health,
      configReload: look.configReload ?? before?.configReload ?? null,
      healthySince: health.status === 'healthy' ? (before?.healthySince ?? timestamp) : null,
    });
    if (before?.health.status === health.status) return;
    const level = health.status === 'healthy' ? 'info' : 'warn';
    log[level]('health of an agent', { agentName, status: health.status, reason: health.lastError });
  }
}

const neverSeen = (agentName: string, startedAt: number): AgentSeen => ({
  agentName,
  reachable: false,
  timestamp: startedAt,
  responseTimeMs: 0,
  health: {
    status: 'stopped',
    uptime: null,
    version: null,
    lastError: 'Not checked yet',
    consecutiveFailures: 0,
    currentTaskId: null,
  },
  healthySince: null,
  configReload: null,
});
