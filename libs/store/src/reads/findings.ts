import { sql } from 'kysely';
import type { Db } from '../connection.ts';
import { wireTime } from '../issue-list-item.ts';
import type { OrgScope } from '../org-scope.ts';
import { type Params, prepared } from '../prepared.ts';
import { type Reach, reachableRepo, reachOf } from './reachable-repo.ts';

export interface FindingFilter {
  status: string | null;
  category: string | null;
  severity: string | null;
}

export interface FindingsRow<F> {
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
        select f.id, f.tenant_id as "tenantId", f.repo_id as "repoId", f.issue_id as "issueId",
          (select i.issue_number from issues i where i.tenant_id = f.tenant_id and i.id = f.issue_id) as "issueNumber",
          (select pr.id from pull_requests pr
            where pr.tenant_id = f.tenant_id and pr.repo_id = f.repo_id and pr.number = f.pr_number) as "prId",
          f.pr_number as "prNumber", f.agent_name as "agentName",
          (select r.task_id from runs r where r.tenant_id = f.tenant_id and r.id = f.run_id) as "taskId",
          f.finding_type as "findingType", f.category, f.severity, f.confidence, f.title, f.summary, f.recommendation,
          f.evidence, f.metadata, f.blocks_progress as "blocksProgress", f.status, null as "resolvedByIssueId",
          null as "resolvedAt", null as "dismissedReason", ${wireTime('f.created_at')} as "createdAt",
          ${wireTime('f.updated_at')} as "updatedAt"
        from findings f where ${matching(p)}
        order by f.created_at desc, f.id limit ${p('limit')} offset ${p('offset')}) q) as items
    from repo`,
);

/** Findings of a repo, newest first (index findings_of_repo). @returns undefined for a repo out of reach. */
export const findingsPage = <F>(
  read: Db,
  scope: OrgScope,
  { slug, ...query }: FindingFilter & { slug: string; limit: number; offset: number },
): Promise<FindingsRow<F> | undefined> =>
  page.first(read, { ...reachOf(scope, slug), ...query }) as Promise<FindingsRow<F> | undefined>;
