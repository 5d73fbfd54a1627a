import type { OpenFindings } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import type { StrategyKey } from './strategy-cycle.ts';

/**
 * Unsettled findings of a repo, counted by kind, with the newest of each kind.
 * @param statuses open = without a decision, accepted = an operator accepted it.
 */
export async function openFindingsByKind(
  db: Db,
  { tenantId, repoId }: StrategyKey,
  statuses: readonly ('open' | 'accepted')[],
): Promise<OpenFindings[]> {
  const { rows } = await sql<OpenFindings>`
    select finding_type as "findingType", category, severity, count(*)::int as count,
      (array_agg(id order by created_at desc, id desc))[1] as "exampleId",
      (array_agg(title order by created_at desc, id desc))[1] as "exampleTitle"
    from findings
    where tenant_id = ${tenantId} and repo_id = ${repoId} and status = any(${[...statuses]}::text[])
    group by finding_type, category, severity
    order by finding_type, category, severity`.execute(db);
  return rows;
}
