import { KPIS } from '@pipeline/domain';
import { type KpiRow, latestKpis, type Store } from '@pipeline/store';

/** The regression guard's last evaluation of a repo. */
export interface GuardedRepo {
  owner: string;
  repo: string;
  kpis: Omit<KpiRow, 'tenantId' | 'repoId' | 'owner' | 'repo'>[];
}

/** All enabled repos that it has evaluated, by name. */
export async function readKpis(store: Store): Promise<GuardedRepo[]> {
  const rows = await latestKpis(store.db);
  return [...Map.groupBy(rows, ({ tenantId, repoId }) => `${tenantId}/${repoId}`).values()].map((ofRepo) => ({
    owner: ofRepo[0]?.owner ?? '',
    repo: ofRepo[0]?.repo ?? '',
    kpis: ofRepo
      .toSorted((a, b) => KPIS.indexOf(a.kpi) - KPIS.indexOf(b.kpi))
      .map(({ tenantId: _, repoId: __, owner: ___, repo: ____, ...kpi }) => kpi),
  }));
}
