import { z } from 'zod';

const usd = z.number().nonnegative();

/** USD, rounded to four decimals; 0 when there was none. */
export const CostByWindow = z
  .object({
    last24hUsd: usd,
    last7dUsd: usd,
    last30dUsd: usd,
    lifetimeUsd: usd,
    todayUsd: usd.meta({ description: 'Since midnight UTC.' }),
  })
  .meta({ id: 'CostByWindow' });
