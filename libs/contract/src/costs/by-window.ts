import { z } from 'zod';

const usd = z.number().nonnegative();

/** Number of invocations in a sum of costs whose cost is unreported. They add nothing to the sum. */
export const UnreportedCosts = z.int().nonnegative().meta({
  description:
    'Number of invocations whose cost is unreported: neither a cost nor tokens with a price. They add nothing to the sum in USD, which is then a lower bound.',
});

/** Cost by rolling window in USD, rounded to four decimals; 0 without cost events. */
export const CostByWindow = z
  .object({
    last24hUsd: usd,
    last7dUsd: usd,
    last30dUsd: usd,
    lifetimeUsd: usd,
    todayUsd: usd.meta({ description: 'Since midnight UTC.' }),
    last24hUnreportedCosts: UnreportedCosts,
    last7dUnreportedCosts: UnreportedCosts,
    last30dUnreportedCosts: UnreportedCosts,
    lifetimeUnreportedCosts: UnreportedCosts,
    todayUnreportedCosts: UnreportedCosts,
  })
  .meta({ id: 'CostByWindow' });
