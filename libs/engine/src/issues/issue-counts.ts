import { aggregateIssueCounts, unfoldedRepos } from '@pipeline/store';
import type { Engine } from '../context/context.ts';

const BATCH = 500;

/**
 * Applies appended deltas to the counters of issues, so that readers add few. Any number of processes may run this: for
 * each repo one of them does.
 * @returns how many repos had deltas.
 */
export async function aggregateCounts(engine: Engine): Promise<number> {
  const repos = await unfoldedRepos(engine.store.db, BATCH);
  for (const { tenant_id, repo_id } of repos) await aggregateIssueCounts(engine.store.db, tenant_id, repo_id);
  return repos.length;
}
