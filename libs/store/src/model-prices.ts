import type { ModelPrice } from '@pipeline/domain';
import type { Db } from './connection.ts';

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
