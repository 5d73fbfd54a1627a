import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import type { IssueRow } from '../issues/issues.ts';

/** Cursor of a scan over the open issues of all tenants. */
export interface ReconcilerCursor {
  tenant_id: number;
  repo_id: number;
  issue_number: number;
}

export type ReconciledIssue = ReconcilerCursor & Pick<IssueRow, 'id' | 'state' | 'is_blocked' | 'is_paused' | 'labels'>;

/** The next open issues after a cursor, in key order: one range of the index issues_open. */
export async function openIssuesAfter(
  fleet: Db,
  after: ReconcilerCursor | null,
  limit: number,
): Promise<ReconciledIssue[]> {
  const from = after ?? { tenant_id: 0, repo_id: 0, issue_number: 0 };
  const { rows } = await sql<ReconciledIssue>`
    /* fleet: upkeep of every tenant */
    select tenant_id, repo_id, issue_number, id, state, is_blocked, is_paused, labels
    from issues
    where is_open and (tenant_id, repo_id, issue_number) > (${from.tenant_id}, ${from.repo_id}, ${from.issue_number})
    order by tenant_id, repo_id, issue_number
    limit ${limit}`.execute(fleet);
  return rows;
}
