import type { KpiReading } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import type { StrategyKey } from './strategy-cycle.ts';

/** The newest KPIs of a repo from the regression guard; none if older than a week. */
export async function strategyKpis(db: Db, { tenantId, repoId }: StrategyKey): Promise<KpiReading[]> {
  const { rows } = await sql<KpiReading>`
    select distinct on (kpi) kpi, value, baseline_value as baseline, regressed, magnitude
    from kpi_snapshots
    where tenant_id = ${tenantId} and repo_id = ${repoId} and computed_at > svc_now() - interval '7 days'
    order by kpi, day desc`.execute(db);
  return rows;
}
