import type { FindingStatus } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { findingColumns, type ListedFinding } from './finding-columns.ts';
import type { FindingFilter, FindingsRow } from './findings-page.ts';

interface Page {
  limit: number;
  offset: number;
}

const byRepo = prepared(
  'findings-of-repo',
  (_db, p: Params<FindingFilter & Page & { tenantId: number; repoId: number }>) => {
    const matching = sql`
      f.tenant_id = ${p('tenantId')} and f.repo_id = ${p('repoId')}
      and (${p('status')}::text is null or f.status = ${p('status')})
      and (${p('category')}::text is null or f.category = ${p('category')})
      and (${p('severity')}::text is null or f.severity = ${p('severity')})`;
    return sql<FindingsRow<ListedFinding>>`
      select (select count(*) from findings f where ${matching}) as total,
        (select coalesce(json_agg(q), '[]') from (
          select ${findingColumns} from findings f where ${matching}
          order by f.created_at desc, f.id limit ${p('limit')} offset ${p('offset')}) q) as items`;
  },
);

/** Findings of a repo, newest first (index findings_of_repo). */
export async function findingsOfRepo(
  read: Db,
  repo: { tenantId: number; repoId: number },
  filter: FindingFilter,
  page: Page,
): Promise<FindingsRow<ListedFinding>> {
  const row = await byRepo.first(read, { ...repo, ...filter, ...page });
  return row ?? { total: 0, items: [] };
}

const byIssue = prepared(
  'findings-of-issue',
  (_db, p: Params<Page & { tenantId: number; issueId: number }>) => sql<ListedFinding>`
    select ${findingColumns}
    from finding_sightings s join findings f on f.tenant_id = s.tenant_id and f.id = s.finding_id
    where s.tenant_id = ${p('tenantId')} and s.issue_id = ${p('issueId')}
    order by f.created_at desc, f.id limit ${p('limit')} offset ${p('offset')}`,
);

/** Findings reported while an issue was in progress, newest first; another issue may have reported them first. */
export const findingsOfIssue = (
  read: Db,
  issue: { tenantId: number; issueId: number },
  page: Page,
): Promise<ListedFinding[]> => byIssue.all(read, { ...issue, ...page });

const byId = prepared(
  'finding-by-id',
  (_db, p: Params<{ tenantId: number; id: string }>) => sql<ListedFinding>`
    select ${findingColumns} from findings f where f.tenant_id = ${p('tenantId')} and f.id = ${p('id')}`,
);

export const findingById = (db: Db, tenantId: number, id: string): Promise<ListedFinding | undefined> =>
  byId.first(db, { tenantId, id });

/** On a distributed store this statement runs on all nodes; all that follow name the tenant. */
export const locateFinding = (
  fleet: Db,
  id: string,
): Promise<{ tenant_id: number; repo_id: number; issue_id: number | null } | undefined> =>
  fleet
    .selectFrom('findings')
    .modifyFront(fleetNote('finds the tenant of an id'))
    .select(['tenant_id', 'repo_id', 'issue_id'])
    .where('id', '=', id)
    .executeTakeFirst();

export const lockFinding = (tx: Tx, tenantId: number, id: string) =>
  tx
    .selectFrom('findings')
    .select(['id', 'status', 'repo_id', 'issue_id', 'resolved_by_issue_id', 'blocks_progress'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

interface FindingChange {
  status: FindingStatus;
  /** Internal id of the issue that settles it. */
  resolvedByIssueId: number | null;
  dismissedReason: string | null;
}

export async function setFindingStatus(tx: Tx, tenantId: number, id: string, change: FindingChange): Promise<void> {
  await tx
    .updateTable('findings')
    .set({
      status: change.status,
      resolved_at: change.status === 'resolved' ? svcNow : null,
      resolved_by_issue_id: change.resolvedByIssueId,
      dismissed_reason: change.dismissedReason,
      updated_at: svcNow,
    })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/**
 * Resolves the open findings that a done issue was to resolve (index findings_to_resolve).
 * @returns them, with the issue they belong to.
 */
export const resolveFindingsOf = (tx: Tx, tenantId: number, issueId: number) =>
  tx
    .updateTable('findings')
    .set({ status: 'resolved', resolved_at: svcNow, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('resolved_by_issue_id', '=', issueId)
    .where('status', 'in', ['open', 'accepted'])
    .returning(['id', 'repo_id', 'issue_id'])
    .execute();
