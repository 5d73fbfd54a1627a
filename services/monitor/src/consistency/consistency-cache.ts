import {
  CONSISTENCY_KINDS,
  type ConsistencyFinding,
  type ConsistencyRef,
  parseConsistencyId,
  slugKey,
} from '@pipeline/domain';
import { type Engine, listFindings, OrphanWatch } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { Gauge, type Registry } from 'prom-client';
import { type ConnectedHost, hostFinder } from '../hosts/hosts.ts';
import { ListCache } from '../polling/list-cache.ts';

export type ConsistencyCache = ListCache<ConsistencyFinding>;

/** Without a watch the list is what the store finds by itself. */
export const consistencyCache = (engine: Engine, orphans: OrphanWatch | null, now: () => Date): ConsistencyCache =>
  new ListCache(async () => {
    const { findings, total } = await listFindings(engine);
    const unknown = (await orphans?.findings()) ?? [];
    return { items: [...findings, ...unknown], total: total + unknown.length };
  }, now);

/** Looks on the hosts for issues that the pipeline does not know; a repo that cannot be read is logged. */
export const orphanWatch = (engine: Engine, hosts: readonly ConnectedHost[], log: Logger): OrphanWatch =>
  new OrphanWatch({
    engine,
    hostOf: hostFinder(hosts),
    onError: (repo, error) => log.warn('open issues could not be read', { repo: `${repo.owner}/${repo.name}`, error }),
  });

/** A resolved finding leaves the list immediately; one that remains is shown in its current form. */
export function withFinding(id: string, finding: ConsistencyFinding | null) {
  const repaired = parseConsistencyId(id);
  return (items: readonly ConsistencyFinding[]): readonly ConsistencyFinding[] =>
    items.flatMap((item) => (repaired && names(repaired, item) ? (finding ?? []) : item));
}

/** Slugs are compared without case, and a tenant may be named where it need not be. */
function names(repaired: ConsistencyRef, item: ConsistencyFinding): boolean {
  const ref = parseConsistencyId(item.id);
  if (ref?.kind !== repaired.kind || ref.issueNumber !== repaired.issueNumber) return false;
  const sameTenant = ref.tenant === null || repaired.tenant === null || ref.tenant === repaired.tenant;
  return sameTenant && slugKey(ref.repo) === slugKey(repaired.repo);
}

/** Counts the findings in memory at each scrape. */
export function registerConsistencyGauge(registry: Registry, consistency: ConsistencyCache): void {
  new Gauge({
    name: 'svc_consistency_findings',
    help: 'Number of consistency findings, as of the last scan.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      for (const kind of CONSISTENCY_KINDS) this.set({ kind }, 0);
      for (const { kind } of consistency.all()) this.inc({ kind });
    },
  });
}
