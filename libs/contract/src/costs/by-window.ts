import { z } from 'zod';

const usd = z.number().nonnegative();

/** Cost by rolling window in USD, rounded to four decimals; 0 without cost events. */
export const CostByWindow = z
  .object({
    last24hUsd: usd,
    last7dUsd: usd,
    last30dUsd: usd,
    lifetimeUsd: usd,
    todayUsd: usd.meta({ description: 'Since midnight UTC.' }),
  })
  .meta({ id: 'CostByWindow' });
