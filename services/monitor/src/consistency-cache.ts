import { type ConsistencyFinding, type ConsistencyRef, parseConsistencyId, slugKey } from '@pipeline/domain';
import { type Engine, listFindings, OrphanWatch } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { type ConnectedHost, hostFinder } from './hosts.ts';
import { ListCache } from './list-cache.ts';

export type ConsistencyCache = ListCache<ConsistencyFinding>;

/** Without a watch the list is what the store finds by itself. */
export const consistencyCache = (engine: Engine, orphans: OrphanWatch | null): ConsistencyCache =>
  new ListCache(async () => {
    const { findings, total } = await listFindings(engine);
    const unknown = (await orphans?.findings()) ?? [];
    return { items: [...findings, ...unknown], total: total + unknown.length };
  });

/** Looks on the hosts for issues that the pipeline does not know; a repo that cannot be asked is logged. */
export const orphanWatch = (engine: Engine, hosts: readonly ConnectedHost[], log: Logger): OrphanWatch =>
  new OrphanWatch({
    engine,
    hostOf: hostFinder(hosts),
    onError: (repo, error) => log.warn('open issues could not be read', { repo: `${repo.owner}/${repo.name}`, error }),
  });

/** A mended finding leaves the list at once; one that is left is shown as it is now. */
export function withFinding(id: string, finding: ConsistencyFinding | null) {
  const mended = parseConsistencyId(id);
  return (items: readonly ConsistencyFinding[]): readonly ConsistencyFinding[] =>
    items.flatMap((item) => (mended && names(mended, item) ? (finding ?? []) : item));
}

/** Slugs are compared without case, and a tenant may be named where it need not be. */
function names(mended: ConsistencyRef, item: ConsistencyFinding): boolean {
  const ref = parseConsistencyId(item.id);
  if (ref?.kind !== mended.kind || ref.issueNumber !== mended.issueNumber) return false;
  const sameTenant = ref.tenant === null || mended.tenant === null || ref.tenant === mended.tenant;
  return sameTenant && slugKey(ref.repo) === slugKey(mended.repo);
}
