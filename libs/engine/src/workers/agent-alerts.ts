import { DEPLOYMENT } from '@pipeline/domain';
import { type AlertInput, openFingerprints } from '@pipeline/store';
import { raiseAlert, resolveAlert } from '../alerts/alerts.ts';
import { type Engine, inTenant } from '../context/context.ts';

/** The current problem of an agent; null = none. */
export interface AgentTrouble {
  agent: string;
  /** Why it counts as down. */
  down: string | null;
  /** Why a restart does not help. */
  stuck: string | null;
}

/**
 * Reconciles the alerts about agents with their health: an agent that is down is a warning, one that restarts do not
 * help needs a person. Alerts about agents that are not listed, such as removed ones, are resolved.
 * @param unknown agents that have not been checked yet; their alerts stay as they are.
 */
export async function reconcileAgentAlerts(
  engine: Engine,
  troubles: readonly AgentTrouble[],
  unknown: readonly string[],
): Promise<void> {
  const wanted = troubles.flatMap(alertsOf).sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
  const open = await openFingerprints(engine.store.db, DEPLOYMENT, 'agent_unreachable');
  const kept = new Set([...wanted.map(({ fingerprint }) => fingerprint), ...unknown.flatMap(fingerprintsOf)]);
  const ended = open.filter((fingerprint) => !kept.has(fingerprint));
  if (wanted.length === 0 && ended.length === 0) return;
  await inTenant(engine, DEPLOYMENT, async (unit) => {
    for (const alert of wanted) await raiseAlert(unit, alert);
    for (const fingerprint of ended) await resolveAlert(unit, fingerprint);
  });
}

const downOf = (agent: string): string => `agent_unreachable:${agent}`;
const stuckOf = (agent: string): string => `agent_unreachable:${agent}:restart`;
const fingerprintsOf = (agent: string): string[] => [downOf(agent), stuckOf(agent)];

function alertsOf({ agent, down, stuck }: AgentTrouble): AlertInput[] {
  const detector = 'agent_unreachable' as const;
  const alerts: AlertInput[] = [];
  if (down !== null) {
    const message = `agent ${agent} is down: ${down}`;
    alerts.push({ severity: 'warning', detector, fingerprint: downOf(agent), message });
  }
  if (stuck !== null) {
    const message = `a restart did not repair agent ${agent}: ${stuck}`;
    alerts.push({ severity: 'critical', detector, fingerprint: stuckOf(agent), message });
  }
  return alerts;
}
