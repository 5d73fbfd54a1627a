import { type Alert, DAY_MS, DEPLOYMENT, HOUR_MS, type Settings } from '@pipeline/domain';
import {
  type AlertInput,
  type AlertRow,
  closeAlert,
  insertRaised,
  insertResolved,
  insertThreshold,
  storeNow,
  upsertAlert,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { emit } from '../records/records.ts';

/** A channel is notified of the same alert at most once in this time. */
const QUIET_MS = 4 * HOUR_MS;

/** The channel's name in deliveries. */
export const channelKey = (channel: Settings['alertChannels'][number]): string => {
  if (channel.type === 'webhook') return `webhook ${channel.url}`;
  return channel.type === 'slack' ? `slack ${channel.urlEnv}` : 'log';
};

const channelsOf = ({ settings }: TransactionContext): string[] => [...new Set(settings.alertChannels.map(channelKey))];

/**
 * Raises an alert. There is one row per tenant and fingerprint: while it is open, raising it again increments the count
 * and updates `last_seen_at`; a resolved one starts a new episode of the same row. The live stream and the configured
 * channels are notified when an episode begins, the channels by rows that one monitor sends. Alerts of the deployment
 * itself are raised in a transaction of the tenant DEPLOYMENT. The row stays locked until the transaction ends, so
 * raise alerts last, several in fingerprint order.
 * @returns whether a new episode began.
 */
export async function raiseAlert(unit: TransactionContext, alert: AlertInput): Promise<boolean> {
  const row = await upsertAlert(unit.tx, unit.tenantId, alert);
  if (row.count > 1) return false;
  publishAlert(unit, row);
  const channels = channelsOf(unit);
  if (channels.length === 0) return true;
  if (row.detector === 'budget_threshold') {
    await insertThreshold(unit.tx, row, { channels, since: await periodOf(unit, row) });
  } else await insertRaised(unit.tx, row, { channels, quietMs: QUIET_MS });
  return true;
}

/** Resolves an alert. @returns false when no such alert is open, so that resolving twice notifies once. */
export async function resolveAlert(unit: TransactionContext, fingerprint: string): Promise<boolean> {
  const row = await closeAlert(unit.tx, unit.tenantId, fingerprint);
  if (!row) return false;
  publishAlert(unit, row);
  const channels = channelsOf(unit);
  // The end of a budget's period is not reported.
  if (channels.length > 0 && row.detector !== 'budget_threshold') await insertResolved(unit.tx, row, channels);
  return true;
}

/** Start of a budget's period: the UTC day; null for an issue, whose period is its whole life. */
async function periodOf(unit: TransactionContext, row: AlertRow): Promise<string | null> {
  if (row.issue_number !== null) return null;
  const now = Date.parse(await storeNow(unit.tx));
  return new Date(now - (now % DAY_MS)).toISOString();
}

const publishAlert = (unit: TransactionContext, { severity, message, detector, resolved_at }: AlertRow): void =>
  emit(unit, 'alert', { severity, message, detector, resolved: resolved_at !== null });

/**
 * Records a past outage of the store itself: an alert with its begin and end. Its channels were notified from memory,
 * so no delivery is written.
 */
export const recordOutage = (
  engine: Engine,
  { severity, detector, fingerprint, message, threshold }: Alert,
): Promise<void> =>
  inTenant(engine, DEPLOYMENT, async (unit) => {
    const raised = await upsertAlert(unit.tx, DEPLOYMENT, { severity, detector, fingerprint, message, threshold });
    publishAlert(unit, raised);
    const closed = await closeAlert(unit.tx, DEPLOYMENT, fingerprint);
    if (closed) publishAlert(unit, closed);
  });
