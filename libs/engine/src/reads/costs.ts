import { utcMidnight } from '@pipeline/domain';
import { type CostSummary, type CostSums, costSummary, type OrgScope, type Store } from '@pipeline/store';

export type Costs = CostSums & Pick<CostSummary, 'byRepo' | 'byAgent'> & { serverTimestamp: string };

/** What everything within reach of a connection has cost, in USD. */
export async function costsOf(store: Store, scope: OrgScope, now: Date): Promise<Costs> {
  const found = await costSummary(store.read, scope, utcMidnight(now).toISOString());
  return { ...found.total, byRepo: found.byRepo, byAgent: found.byAgent, serverTimestamp: found.now };
}
