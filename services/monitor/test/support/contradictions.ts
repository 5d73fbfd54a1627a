import type { Db } from '@pipeline/store';
import { admit, type Bench } from './bench.ts';

/** Number of the issue, on the host or in the store, that has the finding of each kind. */
export const FINDING_AT = {
  stale_blocked: 1,
  stale_subtask_edge: 2,
  orphan_missing_from_pg: 90,
  si_linkage_gap: 2,
  orphan_dependency_edge: 4,
} as const;

/**
 * Writes one contradiction of each kind that a repair corrects, except the orphan, which is an open issue of the host
 * without a record; the epic and the gap are done issues.
 */
export async function writeContradictions(db: Db, bench: Bench): Promise<void> {
  for (const number of [1, 2, 3, 4]) await admit(bench, number);
  await db.deleteFrom('projections').where('repo_id', '=', bench.repo.id).execute();
  const set = (number: number, row: Record<string, unknown>) =>
    db.updateTable('issues').set(row).where('repo_id', '=', bench.repo.id).where('issue_number', '=', number).execute();
  await set(1, { is_blocked: true, labels: ['svc:analyzing', 'svc:blocked'] });
  await set(2, { state: 'done' });
  const key = { tenant_id: bench.tenantId, repo_id: bench.repo.id };
  await db
    .insertInto('si_issues')
    .values({ ...key, issue_number: 2, track_name: 'docs' })
    .execute();
  const edge = { tenant_id: bench.tenantId, child_repo_id: bench.repo.id, parent_repo_id: bench.repo.id };
  await db
    .insertInto('issue_edges')
    .values([
      { ...edge, kind: 'subtask', child_issue_number: 3, parent_issue_number: 2 },
      { ...edge, kind: 'depends_on', child_issue_number: 4, parent_issue_number: 77 },
    ])
    .execute();
}
