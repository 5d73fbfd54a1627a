import type { HostIssue, VcsHost } from '@pipeline/domain';
import { OrphanWatch } from '@pipeline/engine';
import type { Store } from '@pipeline/store';
import { consistencyCache } from '../../../src/consistency/consistency-cache.ts';
import type { Pipeline } from '../../../src/process/pipeline.ts';
import { makeBench } from '../../support/bench.ts';
import { FINDING_AT } from '../../support/contradictions.ts';

/** The repository whose host has an issue that the store does not know. */
export const CONSISTENCY = 'Acme/Contradictions';

/** Returns the parts of a pipeline with a host with one open issue that the store does not know. */
export async function withOrphan({ engine }: Pipeline, store: Store): Promise<Partial<Pipeline>> {
  const orphan = { number: FINDING_AT.orphan_missing_from_pg, title: 'Lost', state: 'open', labels: [] as string[] };
  const host = {
    getIssue: async (_repo, number) => (number === orphan.number ? orphan : null),
    listIssues: async () => ({ issues: [orphan as unknown as HostIssue], changedPullRequests: [], etag: null }),
  } as Partial<VcsHost> as VcsHost;
  const { repo } = await makeBench(store, CONSISTENCY);
  const hostOf: Pipeline['hostOf'] = ({ id }) => (id === repo.id ? host : null);
  const orphans = new OrphanWatch({ engine, hostOf, onError: () => undefined });
  await orphans.check();
  return { hostOf, consistency: consistencyCache(engine, orphans, () => new Date()) };
}
