import { ConfigReloadOutcome as ReloadBody } from '@pipeline/contract';
import {
  AGENT_STATUSES,
  type AgentHealth,
  type AgentObservation,
  type AgentStatus,
  agentHealthAfter,
  type ConfigReloadOutcome,
  type PipelineConfig,
} from '@pipeline/domain';
import { deadlineSignal, type Logger } from '@pipeline/runtime';
import { z } from 'zod';

const MAX_BODY_BYTES = 64 * 1024;

/** Agents are other people's programs: what does not have this shape is left out, not refused. */
const Body = z.object({
  status: z.string().optional().catch(undefined),
  uptime: z.number().nonnegative().nullable().catch(null),
  version: z.string().max(200).nullable().catch(null),
  currentTaskId: z.string().max(200).nullable().catch(null),
  configReload: ReloadBody.nullable().catch(null),
});
const NOTHING = { status: undefined, uptime: null, version: null, currentTaskId: null, configReload: null };

/** A look, and the agent's report of its last reload of a configuration. */
export type AgentCheck = AgentObservation & { configReload?: ConfigReloadOutcome | null };

/** Connection errors which show that no process listens. */
const ABSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * Asks an agent once how it is. An answer with a good status is the word of the agent: its JSON body may name one of
 * the four statuses, and none means healthy.
 * @param timeoutMs for the whole answer.
 */
export async function checkAgent(url: string, timeoutMs: number, signal?: AbortSignal): Promise<AgentCheck> {
  const deadline = deadlineSignal(timeoutMs, signal);
  try {
    const response = await fetch(url, { signal: deadline, headers: { accept: 'application/json' } });
    const text = await readAtMost(response, MAX_BODY_BYTES);
    if (!response.ok) return { kind: 'failed', reachable: true, problem: `answers ${response.status}` };
    return answered(parsed(text));
  } catch (error) {
    if (deadline.aborted)
      return { kind: 'failed', reachable: false, problem: `does not answer within ${timeoutMs} ms` };
    const cause = (error as { cause?: { code?: string; message?: string } }).cause;
    const problem = cause?.message || (cause?.code ?? (error as Error).message);
    return ABSENT.has(cause?.code ?? '') ? { kind: 'absent', problem } : { kind: 'failed', reachable: false, problem };
  }
}

function answered({ status: word, ...figures }: z.output<typeof Body>): AgentCheck {
  const known = AGENT_STATUSES.find((status) => status === word);
  const isFine = word === undefined || word === 'ok';
  const status: AgentStatus = known ?? (isFine ? 'healthy' : 'degraded');
  const problem = status === 'healthy' ? null : `says "${word?.slice(0, 100)}"`;
  return { kind: 'answered', status, problem, ...figures };
}

function parsed(text: string): z.output<typeof Body> {
  try {
    return Body.catch(NOTHING).parse(JSON.parse(text));
  } catch {
    return NOTHING; // Plain text, such as "OK".
  }
}

/** A body without end must not fill the memory. */
async function readAtMost(response: Response, bytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let read = 0;
  for await (const chunk of response.body ?? []) {
    read += chunk.byteLength;
    if (read > bytes) throw new Error(`response larger than ${bytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

/** An agent as it was at the last look (interface: AgentHealthSnapshot, without the values of the store). */
export interface AgentSeen {
  agentName: string;
  /** True = it answered at all, be it with an error. */
  reachable: boolean;
  /** Epoch milliseconds of the look. */
  timestamp: number;
  responseTimeMs: number;
  health: AgentHealth;
  /** Since when it is healthy without a break, in epoch milliseconds; null while it is not. */
  healthySince: number | null;
  /** Outcome of a reload of its configuration that it reported last. */
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
 * Health of the configured agents as this monitor observes it; each monitor checks for itself. A round takes
 * LOOK_TIMEOUT_MS at the most, because all agents are checked at once.
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
