import type { ModelPrice } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';

/** The whole table: a few rows. */
export const modelPrices = (db: Db): Promise<ModelPrice[]> =>
  db
    .selectFrom('model_prices')
    .select([
      'pattern',
      'input_usd as inputUsd',
      'output_usd as outputUsd',
      'cache_read_usd as cacheReadUsd',
      'cache_write_usd as cacheWriteUsd',
    ])
    .execute();

/**
 * Inserts or updates the price of a pattern. Patterns are stored in lower case, because they are compared
 * case-insensitively.
 */
export async function setModelPrice(tx: Tx, { pattern, ...usd }: ModelPrice): Promise<void> {
  const price = {
    input_usd: usd.inputUsd,
    output_usd: usd.outputUsd,
    cache_read_usd: usd.cacheReadUsd,
    cache_write_usd: usd.cacheWriteUsd,
    updated_at: svcNow,
  };
  await removeModelPrice(tx, pattern);
  await tx
    .insertInto('model_prices')
    .values({ pattern: pattern.toLowerCase(), ...price })
    .onConflict((c) => c.column('pattern').doUpdateSet(price))
    .execute();
}

/** @returns whether there was one. */
export async function removeModelPrice(tx: Tx, pattern: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('model_prices')
    .where(sql`lower(pattern)`, '=', pattern.toLowerCase())
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
