import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { CostByWindow, UnreportedCosts } from './by-window.ts';

/** Costs of all repos in scope: total, by repo, by agent. */
export const CostSummary = CostByWindow.extend({
  byRepo: z.array(CostByWindow.omit({ todayUsd: true, todayUnreportedCosts: true }).extend({ repo: z.string() })),
  byAgent: z.array(
    z.object({
      agent: z.string(),
      usd: z.number().nonnegative(),
      invocations: z.int().nonnegative(),
      unreportedCosts: UnreportedCosts,
    }),
  ),
  serverTimestamp: Timestamp,
}).meta({ id: 'CostSummary' });
