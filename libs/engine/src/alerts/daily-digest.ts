import { DEPLOYMENT, utcDate } from '@pipeline/domain';
import { channelsWithoutDigest, insertDigest, storeNow } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { channelKey } from './alerts.ts';
import { readDigest } from './digest.ts';

/**
 * Writes the daily digest for each channel that wants it and has none of this UTC day yet; one monitor sends it, like
 * alerts. A day without a call has none, because the figures are current ones. May run anywhere, any number of times. A
 * round without a digest to write costs a probe for each channel.
 */
export async function writeDailyDigest(engine: Engine): Promise<void> {
  const wanting = engine.settings().alertChannels.filter((channel) => channel.digest !== false);
  const configured = [...new Set(wanting.map(channelKey))];
  if (configured.length === 0) return;
  const { tenant } = engine.store;
  const channels = await channelsWithoutDigest(tenant, configured, utcDate(new Date(await storeNow(tenant))));
  if (channels.length === 0) return;
  const digest = await readDigest(engine.store);
  await inTenant(engine, DEPLOYMENT, ({ tx }) => insertDigest(tx, digest, channels));
}
