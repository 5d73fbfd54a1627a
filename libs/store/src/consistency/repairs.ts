import { svcNow } from '../driver/clock.ts';
import type { Tx } from '../driver/database.ts';
import type { IssuePlace } from '../workflow/dependencies.ts';

/** Marks every active subtask edge of an epic as resolved. @returns the ids of those that were active. */
export async function resolveSubtaskEdges(tx: Tx, tenantId: number, epic: IssuePlace, by: string): Promise<number[]> {
  const rows = await tx
    .updateTable('issue_edges')
    .set({ active: false, resolved_by: by, resolved_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', 'subtask')
    .where('parent_repo_id', '=', epic.repoId)
    .where('parent_issue_number', '=', epic.number)
    .where('active', '=', true)
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}

/** @returns the ids that still existed. */
export async function deleteEdges(tx: Tx, tenantId: number, ids: readonly number[]): Promise<number[]> {
  const rows = await tx
    .deleteFrom('issue_edges')
    .where('tenant_id', '=', tenantId)
    .where('id', 'in', ids)
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}

/** Marks a self-improvement issue as completed. @returns false when it already was, or does not exist. */
export async function completeSiIssue(tx: Tx, tenantId: number, issue: IssuePlace): Promise<boolean> {
  const row = await tx
    .updateTable('si_issues')
    .set({ completed_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', issue.repoId)
    .where('issue_number', '=', issue.number)
    .where('completed_at', 'is', null)
    .returning('issue_number')
    .executeTakeFirst();
  return row !== undefined;
}
