import { FORGIVEN_AFTER_MS, needsRestart, type PipelineConfig } from '@pipeline/domain';
import {
  type AgentTrouble,
  assertHeld,
  beginAgentRestart,
  type Engine,
  failAgentRestart,
  forgiveAgentRestarts,
  type Leader,
  type RestartRequest,
  reconcileAgentAlerts,
} from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { type AgentRestartRow, agentRestarts } from '@pipeline/store';
import { Flights } from '../loops/flights.ts';
import type { AgentSeen, HealthWatch } from './health-watch.ts';
import { restartContainer } from './restart-docker.ts';
import { type Processes, restartByPid } from './restart-pid.ts';

interface RestarterDeps {
  engine: Engine;
  agents: PipelineConfig['agents'];
  watch: HealthWatch;
  leader: Leader;
  dockerHost: string;
  processes: Processes;
  log: Logger;
  now: () => Date;
}

const STOP_GRACE_MS = 3_000;

/**
 * Restarts agents that are down, by the strategy of the settings; one monitor of all does. The counts and times are in
 * the store, so the cooldown also holds after a restart of the monitor.
 *
 *   healthy -(3 bad looks)-> down -(restart, cooldown over, attempts left)-> down, attempt + 1
 *   down -(healthy again, for FORGIVEN_AFTER_MS)-> healthy, attempts 0
 */
export class AgentRestarter {
  readonly #deps: RestarterDeps;
  readonly #flights = new Flights();
  #rows: readonly AgentRestartRow[] = [];

  constructor(deps: RestarterDeps) {
    this.#deps = deps;
  }

  /** Returns how often each agent was restarted, and when last; as of the last tick. */
  restartsOf(agent: string): { restarts: number; lastRestartAt: string | null; lastError: string | null } {
    const row = this.#rows.find((one) => one.agent === agent);
    return {
      restarts: row?.restarts ?? 0,
      lastRestartAt: row?.last_restart_at ?? null,
      lastError: row?.last_error ?? null,
    };
  }

  /** Cost: one read of a row per agent; more only where something is to be done. */
  async tick(): Promise<void> {
    const { engine, leader } = this.#deps;
    this.#rows = await agentRestarts(engine.store.db);
    await leader.run(engine, (leading) => this.#round(leading));
  }

  async #round(engine: Engine): Promise<void> {
    const { watch } = this.#deps;
    await this.#record(engine);
    for (const seen of watch.seen()) {
      if (this.#flights.has(seen.agentName)) continue;
      if (needsRestart(seen.health)) await this.#begin(engine, seen);
      else if (this.#isWellAgain(seen)) await forgiveAgentRestarts(engine, seen.agentName);
    }
  }

  /** Waits for restarts in progress. @returns whether there was any. */
  landed(): Promise<boolean> {
    return this.#flights.landed();
  }

  stop(): Promise<void> {
    return this.#flights.stop(STOP_GRACE_MS);
  }

  /** Recorded by the leader alone, which also has the results of restarts. */
  #record(engine: Engine): Promise<void> {
    const { agents, watch } = this.#deps;
    const seen = watch.seen();
    const names = new Set(seen.map(({ agentName }) => agentName));
    const unknown = Object.keys(agents).filter((name) => !names.has(name));
    return reconcileAgentAlerts(
      engine,
      seen.map((one) => this.#troubleOf(one)),
      unknown,
    );
  }

  #troubleOf({ agentName: agent, health }: AgentSeen): AgentTrouble {
    if (!needsRestart(health)) return { agent, down: null, stuck: null };
    const { autoRestart } = this.#deps.engine.settings().selfHealing;
    const row = this.#rows.find((one) => one.agent === agent);
    const why = row ? (row.last_error ?? this.#inVain(row)) : null;
    return { agent, down: `${health.status}, ${health.lastError}`, stuck: autoRestart ? why : null };
  }

  /** The last restart has as long to help as there is between two of them. */
  #inVain({ attempts, last_restart_at }: AgentRestartRow): string | null {
    const { maxRestartAttempts, restartCooldownSec } = this.#deps.engine.settings().selfHealing;
    const helpsUntil = Date.parse(last_restart_at ?? '') + restartCooldownSec * 1_000;
    const isOver = attempts > 0 && attempts >= maxRestartAttempts && this.#deps.now().getTime() >= helpsUntil;
    return isOver ? `it was restarted ${attempts}× and is still down` : null;
  }

  async #begin(engine: Engine, { agentName, health }: AgentSeen): Promise<void> {
    const { log } = this.#deps;
    const target = this.#targetOf(agentName);
    if (!target) return;
    const why = `${health.status} at ${health.consecutiveFailures} looks in a row: ${health.lastError}`;
    const request = { agent: agentName, how: target.how, why };
    const begun = await beginAgentRestart(engine, request);
    if (!begun) return;
    assertHeld(engine);
    const { how } = request;
    log.warn('restarting an agent', { agentName, how, why, attempt: begun.attempts });
    void this.#flights.start(agentName, (signal) => this.#carryOut(request, () => target.restart(signal)));
  }

  /** A restart that does not work ends no loop: it is reported, and tried again after the cooldown. */
  async #carryOut(request: RestartRequest, restart: () => Promise<void>): Promise<void> {
    const { engine, log } = this.#deps;
    const fields = { agentName: request.agent, how: request.how };
    try {
      await restart();
      log.info('agent restart requested', fields);
    } catch (error) {
      log.error('agent was not restarted', { ...fields, error });
      await failAgentRestart(engine, request, (error as Error).message).catch((cause: unknown) =>
        log.error('a failed restart was not recorded', { ...fields, error: cause }),
      );
    }
  }

  /** An agent without what the strategy needs is left alone. */
  #targetOf(name: string): { how: string; restart: (signal: AbortSignal) => Promise<void> } | null {
    const { engine, agents, dockerHost, processes } = this.#deps;
    const agent = agents[name];
    if (!agent) return null;
    const pidFile = 'pidFile' in agent ? agent.pidFile : undefined;
    const container = 'container' in agent ? agent.container : undefined;
    if (engine.settings().selfHealing.restartStrategy === 'docker') {
      if (container === undefined) return null;
      return {
        how: `docker restart of ${container}`,
        restart: (signal) => restartContainer(dockerHost, container, signal),
      };
    }
    if (pidFile === undefined) return null;
    return { how: `SIGTERM to the process of ${pidFile}`, restart: () => restartByPid(pidFile, processes) };
  }

  #isWellAgain({ agentName, healthySince, timestamp }: AgentSeen): boolean {
    const used = this.#rows.find((row) => row.agent === agentName)?.attempts ?? 0;
    return used > 0 && healthySince !== null && timestamp - healthySince >= FORGIVEN_AFTER_MS;
  }
}
