import { utcMidnight } from '@pipeline/domain';
import { type CostSummary, type CostSums, costSummary, type OrgScope, type Store } from '@pipeline/store';
import { repoNotFound } from '../repos/repo-not-found.ts';

type Costs = CostSums & Pick<CostSummary, 'byRepo' | 'byAgent'> & { serverTimestamp: string };

/**
 * Costs of everything in a connection's scope, or of one repo of it, in USD.
 * @throws AppError REPO_NOT_FOUND when the named repo is out of scope.
 */
export async function costsOf(store: Store, scope: OrgScope, now: Date, slug?: string): Promise<Costs> {
  const found = await costSummary(store.reads, scope, { dayStart: utcMidnight(now).toISOString(), slug });
  // Every repo in scope is listed, also without costs.
  if (slug !== undefined && found.byRepo.length === 0) throw repoNotFound();
  return { ...found.total, byRepo: found.byRepo, byAgent: found.byAgent, serverTimestamp: found.now };
}
