import { type DailyDigest, DEPLOYMENT } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db, Tx } from '../driver/database.ts';
import { newIds } from './alert-deliveries.ts';

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
