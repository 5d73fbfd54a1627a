import { type Alert, type AlertMessage, type DailyDigest, DEPLOYMENT } from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import { type Selectable, sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type AlertRow, toAlert } from './alerts.ts';

/** Row of a delivery, whose message is about an alert or about a day; the table's check constraint permits no other. */
export type DeliveryRow = Omit<Selectable<DB['alert_deliveries']>, 'type' | 'alert' | 'digest'> & {
  /** Address of the alert's issue on its host; null where it has none. */
  issue_url: string | null;
} & ({ type: AlertMessage; alert: Alert } | { type: 'digest.daily'; digest: DailyDigest });

/** One message per channel, as a statement parameter. */
const newIds = (channels: readonly string[]): string =>
  JSON.stringify(channels.map((channel) => ({ id: timeOrderedId(), channel })));

/**
 * Inserts the messages about a new episode. A channel that was notified of the same alert less than `quietMs` ago gets
 * its message when that time is over, if the episode lasts that long. @param channels their keys.
 */
export async function insertRaised(
  tx: Tx,
  row: AlertRow,
  { channels, quietMs }: { channels: readonly string[]; quietMs: number },
): Promise<void> {
  await sql`
    insert into alert_deliveries (tenant_id, id, fingerprint, episode_at, channel, type, alert, next_attempt_at)
    select ${row.tenant_id}, c.id, ${row.fingerprint}, ${row.first_seen_at}::timestamptz, c.channel, 'alert.raised',
      ${JSON.stringify(toAlert(row))}::jsonb,
      greatest(svc_now(), ${msInterval(quietMs)} + (
        select max(coalesce(d.finished_at, d.next_attempt_at)) from alert_deliveries d
        where d.tenant_id = ${row.tenant_id} and d.fingerprint = ${row.fingerprint} and d.channel = c.channel
          and d.type = 'alert.raised' and d.attempts > 0))
    from jsonb_to_recordset(${newIds(channels)}::jsonb) c (id uuid, channel text)`.execute(tx);
}

/** Inserts a message about a passed budget threshold for each channel that got none since `since`; null = ever. */
export async function insertThreshold(
  tx: Tx,
  row: AlertRow,
  { channels, since }: { channels: readonly string[]; since: string | null },
): Promise<void> {
  await sql`
    insert into alert_deliveries (tenant_id, id, fingerprint, episode_at, channel, type, alert, next_attempt_at)
    select ${row.tenant_id}, c.id, ${row.fingerprint}, ${row.first_seen_at}::timestamptz, c.channel, 'budget.threshold',
      ${JSON.stringify(toAlert(row))}::jsonb, svc_now()
    from jsonb_to_recordset(${newIds(channels)}::jsonb) c (id uuid, channel text)
    where not exists (
      select from alert_deliveries d
      where d.tenant_id = ${row.tenant_id} and d.fingerprint = ${row.fingerprint} and d.channel = c.channel
        and d.created_at >= coalesce(${since}::timestamptz, '-infinity'))`.execute(tx);
}

/**
 * Inserts the messages about the end of an episode for each channel that was notified of it, and drops pending ones
 * about it. A message with an attempt may have arrived, whatever the response: its channel is notified too.
 */
export async function insertResolved(tx: Tx, row: AlertRow, channels: readonly string[]): Promise<void> {
  await sql`
    with dropped as (
      update alert_deliveries set status = 'dropped', finished_at = svc_now()
      where tenant_id = ${row.tenant_id} and fingerprint = ${row.fingerprint} and type = 'alert.raised'
        and status = 'pending'
      returning 1
    )
    insert into alert_deliveries (tenant_id, id, fingerprint, episode_at, channel, type, alert, next_attempt_at)
    select ${row.tenant_id}, c.id, ${row.fingerprint}, ${row.first_seen_at}::timestamptz, c.channel, 'alert.resolved',
      ${JSON.stringify(toAlert(row))}::jsonb, svc_now()
    from jsonb_to_recordset(${newIds(channels)}::jsonb) c (id uuid, channel text)
    where exists (
      select from alert_deliveries d
      where d.tenant_id = ${row.tenant_id} and d.fingerprint = ${row.fingerprint} and d.channel = c.channel
        and d.type = 'alert.raised' and d.episode_at = ${row.first_seen_at}::timestamptz and d.attempts > 0)`.execute(
    tx,
  );
}

/** Due messages, oldest first (index alert_deliveries_due). */
export async function dueDeliveries(fleet: Db, limit: number): Promise<DeliveryRow[]> {
  const { rows } = await sql<DeliveryRow>`
    ${fleetNote('one sender for all tenants')}
    select d.*, i.url as issue_url
    from alert_deliveries d
    left join repos r on r.tenant_id = d.tenant_id and r.slug_key = lower(d.alert->>'repo')
    left join issues i on i.tenant_id = d.tenant_id and i.repo_id = r.id
      and i.issue_number = (d.alert->>'issueNumber')::int
    where d.status = 'pending' and d.next_attempt_at <= svc_now()
    order by d.next_attempt_at, d.id
    limit ${limit}`.execute(fleet);
  return rows;
}

interface DeliveryKey {
  tenant_id: number;
  id: string;
}

/**
 * Counts an attempt before it is made, so that an attempt that ends the process counts too and is retried after its
 * delay.
 * @param waitSec until the next attempt; null = this is the last one, and the row stays due for its outcome.
 * @returns false when another process took, ended or dropped the message meanwhile.
 */
export async function takeDelivery(
  db: Db,
  { tenant_id, id }: DeliveryKey,
  { attempts, waitSec }: { attempts: number; waitSec: number | null },
): Promise<boolean> {
  const { rows } = await sql`
    update alert_deliveries
    set attempts = attempts + 1, next_attempt_at = svc_now() + make_interval(secs => ${waitSec ?? LAST_TRY_SEC})
    where tenant_id = ${tenant_id} and id = ${id} and status = 'pending' and attempts = ${attempts}
    returning id`.execute(db);
  return rows.length > 0;
}

/** A message whose last attempt ended the process is due again after this time, and fails then. */
const LAST_TRY_SEC = 60;

/** Completes a message, or records why its last attempt failed. */
export async function noteDelivery(
  db: Db,
  { tenant_id, id }: DeliveryKey,
  { status, error }: { status: 'delivered' | 'failed' | 'dropped' | 'pending'; error: string | null },
): Promise<void> {
  await sql`
    update alert_deliveries
    set status = ${status}::text, error = ${error},
      finished_at = (select svc_now() where ${status}::text <> 'pending')
    where tenant_id = ${tenant_id} and id = ${id} and status = 'pending'`.execute(db);
}

/** Deletes messages that are older (index alert_deliveries_by_age). */
export async function deleteOldAlertDeliveries(fleet: Db, keptMs: number): Promise<void> {
  await sql`
    ${fleetNote('retention')}
    delete from alert_deliveries where created_at < svc_now() - ${msInterval(keptMs)}`.execute(fleet);
}

const FINGERPRINT = 'digest.daily';

const midnight = (date: string): string => `${date}T00:00:00Z`;

/**
 * The channels without a digest for a day, sent or not (index alert_deliveries_one_digest).
 * @param date UTC, YYYY-MM-DD.
 */
export async function channelsWithoutDigest(db: Db, channels: readonly string[], date: string): Promise<string[]> {
  const { rows } = await sql<{ channel: string }>`
    select c.channel from unnest(${channels}::text[]) c (channel)
    where not exists (
      select from alert_deliveries d
      where d.tenant_id = ${DEPLOYMENT} and d.channel = c.channel and d.type = 'digest.daily'
        and d.episode_at = ${midnight(date)}::timestamptz)`.execute(db);
  return rows.map(({ channel }) => channel);
}

/** Inserts the digest of its day for channels; a channel that has one keeps it. */
export async function insertDigest(tx: Tx, digest: DailyDigest, channels: readonly string[]): Promise<void> {
  await sql`
    insert into alert_deliveries (tenant_id, id, fingerprint, episode_at, channel, type, digest, next_attempt_at)
    select ${DEPLOYMENT}, c.id, ${FINGERPRINT}, ${midnight(digest.date)}::timestamptz, c.channel, 'digest.daily',
      ${JSON.stringify(digest)}::jsonb, svc_now()
    from jsonb_to_recordset(${newIds(channels)}::jsonb) c (id uuid, channel text)
    on conflict (tenant_id, channel, episode_at) where type = 'digest.daily' do nothing`.execute(tx);
}
