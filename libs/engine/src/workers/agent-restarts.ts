import {
  type AgentRestartRow,
  forgiveRestarts,
  insertAuditEntry,
  noteRestartError,
  takeRestart,
} from '@pipeline/store';
import { type Engine, inFencedTransaction } from '../context/context.ts';

/** A restart of an agent that may be executed now, with its reason. */
export interface RestartRequest {
  agent: string;
  /** The strategy with its target, such as `docker developer-1`. */
  how: string;
  why: string;
}

const SELF = { actorType: 'system', actorId: 'self-healing' } as const;

/**
 * Counts and records a restart before it is executed, so that one that kills the monitor counts too.
 * @returns null while restarts are disabled, in the cooldown, or out of attempts.
 */
export function beginAgentRestart(engine: Engine, request: RestartRequest): Promise<AgentRestartRow | null> {
  const { autoRestart, restartCooldownSec, maxRestartAttempts } = engine.settings().selfHealing;
  if (!autoRestart) return Promise.resolve(null);
  const { agent, how, why } = request;
  return inFencedTransaction(engine, async (tx) => {
    const row = await takeRestart(tx, agent, { cooldownSec: restartCooldownSec, maxAttempts: maxRestartAttempts });
    if (!row) return null;
    const details = { how, attempt: row.attempts, maxAttempts: maxRestartAttempts };
    await insertAuditEntry(tx, { ...SELF, action: 'agent-restart', subject: `agent ${agent}`, reason: why, details });
    return row;
  });
}

/** Records that a restart failed. It stays counted: the next one waits for the cooldown. */
export function failAgentRestart(engine: Engine, { agent, how }: RestartRequest, error: string): Promise<void> {
  return inFencedTransaction(engine, async (tx) => {
    await noteRestartError(tx, agent, error);
    const entry = { ...SELF, action: 'agent-restart-failed', subject: `agent ${agent}`, reason: error };
    await insertAuditEntry(tx, { ...entry, details: { how } });
  });
}

/** Resets the attempts of an agent that has been healthy for a while. @returns whether any had been used. */
export function forgiveAgentRestarts(engine: Engine, agent: string): Promise<boolean> {
  return inFencedTransaction(engine, async (tx) => {
    const forgiven = await forgiveRestarts(tx, agent);
    if (!forgiven) return false;
    const entry = { ...SELF, action: 'agent-recovered', subject: `agent ${agent}`, reason: 'it stayed healthy' };
    await insertAuditEntry(tx, { ...entry, details: {} });
    return true;
  });
}
