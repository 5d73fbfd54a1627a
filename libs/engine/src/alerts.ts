import { type AlertInput, type AlertRow, closeAlert, upsertAlert } from '@pipeline/store';
import type { Unit } from './context.ts';
import { emit } from './records.ts';

/**
 * Says that something is wrong. There is one row per tenant and fingerprint: while it is open, raising it again counts
 * up and moves `last_seen_at`; after it was resolved it is a new episode of the same row. The live stream is told when
 * an episode begins. Alerts of the deployment itself are raised in a unit of the tenant DEPLOYMENT.
 * The row stays locked until the transaction ends, so alerts come last in it, several in the order of their
 * fingerprints.
 * @returns whether it is news.
 */
export async function raiseAlert(unit: Unit, alert: AlertInput): Promise<boolean> {
  const row = await upsertAlert(unit.tx, unit.tenantId, alert);
  if (row.count > 1) return false;
  tell(unit, row);
  return true;
}

/** Says that it is over. @returns false when no such alert is open, so that resolving twice tells once. */
export async function resolveAlert(unit: Unit, fingerprint: string): Promise<boolean> {
  const row = await closeAlert(unit.tx, unit.tenantId, fingerprint);
  if (row) tell(unit, row);
  return row !== undefined;
}

const tell = (unit: Unit, { severity, message, detector, resolved_at }: AlertRow): void =>
  emit(unit, 'alert', { severity, message, detector, resolved: resolved_at !== null });
