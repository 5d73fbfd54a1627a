import { type FindingEvidence, type FindingStatus, withinPage } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { type OrgScope, type Reach, reachableRepo, reachOf } from '../accounts/org-scope.ts';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote, wireTime } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/**
 * A row `f` of findings in the form of the API (interface: Agent finding). The probes are by primary or unique keys.
 */
const findingColumns = (tenant: RawBuilder<number>) => sql`
  f.id, f.tenant_id as "tenantId", f.repo_id as "repoId", f.issue_id as "issueId",
  (select i.issue_number from issues i where i.tenant_id = ${tenant} and i.id = f.issue_id) as "issueNumber",
  (select pr.id from pull_requests pr
    where pr.tenant_id = ${tenant} and pr.repo_id = f.repo_id and pr.number = f.pr_number) as "prId",
  f.pr_number as "prNumber", f.agent_name as "agentName",
  (select r.task_id from runs r where r.tenant_id = ${tenant} and r.id = f.run_id) as "taskId",
  f.finding_type as "findingType", f.category, f.severity, f.confidence, f.title, f.summary, f.recommendation,
  f.evidence, f.metadata, f.blocks_progress as "blocksProgress", f.status,
  f.resolved_by_issue_id as "resolvedByIssueId", ${wireTime('f.resolved_at')} as "resolvedAt",
  f.dismissed_reason as "dismissedReason", ${wireTime('f.created_at')} as "createdAt",
  ${wireTime('f.updated_at')} as "updatedAt"`;

/** Findings of agents, as rows of the store and in the form of the API. */
export interface ListedFinding {
  id: string;
  tenantId: number;
  repoId: number;
  issueId: number | null;
  issueNumber: number | null;
  prId: number | null;
  prNumber: number | null;
  agentName: string;
  taskId: string | null;
  findingType: string;
  category: string;
  severity: 'info' | 'low' | 'medium' | 'high' | 'critical';
  confidence: number | null;
  title: string;
  summary: string;
  recommendation: string | null;
  evidence: FindingEvidence[];
  metadata: Record<string, unknown>;
  blocksProgress: boolean;
  status: 'open' | 'accepted' | 'resolved' | 'dismissed' | 'superseded';
  resolvedByIssueId: number | null;
  resolvedAt: string | null;
  dismissedReason: string | null;
  createdAt: string;
  updatedAt: string;
}

interface FindingFilter {
  status: string | null;
  category: string | null;
  severity: string | null;
}

interface FindingsRow<F> {
  total: number;
  /** One page, newest first. */
  items: F[];
}

type Query = Reach & FindingFilter & { limit: number; offset: number };

const matching = (p: Params<Query>) => sql`
  f.tenant_id = ${p('tenantId')} and f.repo_id = repo.id
  and (${p('status')}::text is null or f.status = ${p('status')})
  and (${p('category')}::text is null or f.category = ${p('category')})
  and (${p('severity')}::text is null or f.severity = ${p('severity')})`;

const page = prepared(
  'page-of-findings',
  (_db, p: Params<Query>) => sql<FindingsRow<unknown>>`
    with repo as (${reachableRepo(p)})
    select (select count(*) from findings f where ${matching(p)}) as total,
      (select coalesce(json_agg(q), '[]') from (
        select ${findingColumns(p('tenantId'))}
        from findings f where ${matching(p)}
        order by f.created_at desc, f.id limit ${p('limit')} offset ${p('offset')}) q) as items
    from repo`,
);

/** Findings of a repo, newest first (index findings_of_repo), up to the octets of a page. @returns undefined for a repo out of scope. */
export const findingsPage = async <F>(
  read: Db,
  scope: OrgScope,
  { slug, ...query }: FindingFilter & { slug: string; limit: number; offset: number },
): Promise<FindingsRow<F> | undefined> => {
  const row = (await page.first(read, { ...reachOf(scope, slug), ...query })) as FindingsRow<F> | undefined;
  return row && { ...row, items: withinPage(row.items) };
};

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
          select ${findingColumns(p('tenantId'))} from findings f where ${matching}
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
  return row ? { ...row, items: withinPage(row.items) } : { total: 0, items: [] };
}

const byIssue = prepared(
  'findings-of-issue',
  (_db, p: Params<Page & { tenantId: number; issueId: number }>) => sql<ListedFinding>`
    select ${findingColumns(p('tenantId'))}
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
    select ${findingColumns(p('tenantId'))} from findings f where f.tenant_id = ${p('tenantId')} and f.id = ${p('id')}`,
);

export const findingById = (db: Db, tenantId: number, id: string): Promise<ListedFinding | undefined> =>
  byId.first(db, { tenantId, id });

/**
 * Finds the tenant of a finding. On a distributed store this statement runs on all nodes; all that follow name the
 * tenant.
 */
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
