import type { ProjectionAction, ProjectionStatus } from '@pipeline/domain';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** Finds an entry by its id alone: the only statement about it that does not name its tenant. */
export const locateProjection = (
  fleet: Db,
  id: number,
): Promise<{ tenant_id: number; issue_id: number | null } | undefined> =>
  fleet
    .selectFrom('projections')
    .modifyFront(fleetNote('finds the tenant of an id'))
    .select(['tenant_id', 'issue_id'])
    .where('id', '=', id)
    .executeTakeFirst();

interface ListedProjection {
  id: number;
  repoOwner: string;
  repoName: string;
  issueNumber: number;
  action: ProjectionAction;
  status: ProjectionStatus;
  attempts: number;
  maxAttempts: number;
  clientType: string;
  retryAfter: string | null;
  error: string | null;
  createdAt: string;
  updatedAt: string;
}

/** Entries of all tenants, newest first. Scans the id index backwards until enough of them have the status. */
export async function listProjections(
  fleet: Db,
  statuses: readonly ProjectionStatus[],
  limit: number,
): Promise<ListedProjection[]> {
  const rows = await fleet
    .selectFrom('projections as p')
    .modifyFront(fleetNote('operators see all tenants'))
    .innerJoin('repos as r', (join) => join.onRef('r.tenant_id', '=', 'p.tenant_id').onRef('r.id', '=', 'p.repo_id'))
    .select([
      'p.id',
      'r.owner as repoOwner',
      'r.name as repoName',
      'p.issue_number as issueNumber',
      'p.action',
      'p.status',
      'p.attempts',
      'p.max_attempts as maxAttempts',
      'p.client_type as clientType',
      'p.retry_after as retryAfter',
      'p.error',
      'p.created_at as createdAt',
      'p.updated_at as updatedAt',
    ])
    .where('p.status', 'in', statuses)
    .orderBy('p.id', 'desc')
    .limit(limit)
    .execute();
  return rows as unknown as ListedProjection[];
}
