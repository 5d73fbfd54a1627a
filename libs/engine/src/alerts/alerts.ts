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
import { type Engine, inTenant, type Unit } from '../context/context.ts';
import { emit } from '../records/records.ts';

/** A channel hears of the same alert once in so long, however often it comes and goes. */
const QUIET_MS = 4 * HOUR_MS;

/** What a channel is called in the deliveries to it. */
export const channelKey = (channel: Settings['alertChannels'][number]): string => {
  if (channel.type === 'webhook') return `webhook ${channel.url}`;
  return channel.type === 'slack' ? `slack ${channel.urlEnv}` : 'log';
};

const channelsOf = ({ settings }: Unit): string[] => [...new Set(settings.alertChannels.map(channelKey))];

/**
 * Says that something is wrong. There is one row per tenant and fingerprint: while it is open, raising it again counts
 * up and moves `last_seen_at`; after it was resolved it is a new episode of the same row. The live stream is told when
 * an episode begins, and so are the configured channels, by rows that one monitor sends. Alerts of the deployment itself
 * are raised in a unit of the tenant DEPLOYMENT.
 * The row stays locked until the transaction ends, so alerts come last in it, several in the order of their
 * fingerprints.
 * @returns whether it is news.
 */
export async function raiseAlert(unit: Unit, alert: AlertInput): Promise<boolean> {
  const row = await upsertAlert(unit.tx, unit.tenantId, alert);
  if (row.count > 1) return false;
  tell(unit, row);
  const channels = channelsOf(unit);
  if (channels.length === 0) return true;
  if (row.detector === 'budget_threshold') {
    await insertThreshold(unit.tx, row, { channels, since: await periodOf(unit, row) });
  } else await insertRaised(unit.tx, row, { channels, quietMs: QUIET_MS });
  return true;
}

/** Says that it is over. @returns false when no such alert is open, so that resolving twice tells once. */
export async function resolveAlert(unit: Unit, fingerprint: string): Promise<boolean> {
  const row = await closeAlert(unit.tx, unit.tenantId, fingerprint);
  if (!row) return false;
  tell(unit, row);
  const channels = channelsOf(unit);
  // The end of a budget's period is no news to anybody.
  if (channels.length > 0 && row.detector !== 'budget_threshold') await insertResolved(unit.tx, row, channels);
  return true;
}

/** When the period of a budget began: the UTC day, or for an issue its whole life. */
async function periodOf(unit: Unit, row: AlertRow): Promise<string | null> {
  if (row.issue_number !== null) return null;
  const now = Date.parse(await storeNow(unit.tx));
  return new Date(now - (now % DAY_MS)).toISOString();
}

const tell = (unit: Unit, { severity, message, detector, resolved_at }: AlertRow): void =>
  emit(unit, 'alert', { severity, message, detector, resolved: resolved_at !== null });

/**
 * Keeps an outage of the store itself, once it is over: an alert that began when it did and has ended. Its channels were
 * told from memory, so no delivery is written.
 */
export const recordOutage = (
  engine: Engine,
  { severity, detector, fingerprint, message, threshold }: Alert,
): Promise<void> =>
  inTenant(engine, DEPLOYMENT, async (unit) => {
    const raised = await upsertAlert(unit.tx, DEPLOYMENT, { severity, detector, fingerprint, message, threshold });
    tell(unit, raised);
    const closed = await closeAlert(unit.tx, DEPLOYMENT, fingerprint);
    if (closed) tell(unit, closed);
  });
