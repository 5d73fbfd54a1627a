import { utcMidnight } from '@pipeline/domain';
import { type CostSummary, type CostSums, costSummary, type OrgScope, type Store } from '@pipeline/store';
import { repoNotFound } from '../repos/repo-not-found.ts';

export type Costs = CostSums & Pick<CostSummary, 'byRepo' | 'byAgent'> & { serverTimestamp: string };

/**
 * What everything within reach of a connection, or one repo of it, has cost, in USD.
 * @throws AppError REPO_NOT_FOUND when the named repo is not within reach.
 */
export async function costsOf(store: Store, scope: OrgScope, now: Date, slug?: string): Promise<Costs> {
  const found = await costSummary(store.read, scope, { dayStart: utcMidnight(now).toISOString(), slug });
  // Every repo within reach is listed, also one that has cost nothing.
  if (slug !== undefined && found.byRepo.length === 0) throw repoNotFound();
  return { ...found.total, byRepo: found.byRepo, byAgent: found.byAgent, serverTimestamp: found.now };
}
