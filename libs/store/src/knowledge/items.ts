import type {
  IntelligenceEvidenceType,
  IntelligenceKind,
  IntelligenceScopeKind,
  IntelligenceStatus,
} from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { wireTime } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** A row `t` of intelligence_items in the form of the API (interface: Intelligence item). */
const itemColumns = sql`
  t.id, t.tenant_id as "tenantId", t.repo_id as "repoId", t.kind, t.title, t.summary, t.details, t.status, t.confidence,
  t.quality_score as "qualityScore", t.source, t.source_agent as "sourceAgent", t.source_issue_id as "sourceIssueId",
  t.source_pr_id as "sourcePrId", t.source_finding_id as "sourceFindingId",
  t.source_retrospective_id as "sourceRetrospectiveId", t.metadata, t.tags,
  ${wireTime('t.first_observed_at')} as "firstObservedAt", ${wireTime('t.last_observed_at')} as "lastObservedAt",
  t.observation_count as "observationCount", ${wireTime('t.approved_at')} as "approvedAt",
  t.approved_by as "approvedBy", ${wireTime('t.dismissed_at')} as "dismissedAt",
  t.dismissed_reason as "dismissedReason", t.superseded_by as "supersededBy",
  ${wireTime('t.created_at')} as "createdAt", ${wireTime('t.updated_at')} as "updatedAt"`;

/** interface: Intelligence item. */
interface ListedItem {
  id: string;
  tenantId: number;
  repoId: number;
  kind: IntelligenceKind;
  title: string;
  summary: string;
  details: string | null;
  status: IntelligenceStatus;
  confidence: number | null;
  qualityScore: number | null;
  source: string;
  sourceAgent: string | null;
  sourceIssueId: number | null;
  sourcePrId: number | null;
  sourceFindingId: string | null;
  sourceRetrospectiveId: string | null;
  metadata: Record<string, unknown>;
  tags: string[] | null;
  firstObservedAt: string;
  lastObservedAt: string;
  observationCount: number;
  approvedAt: string | null;
  approvedBy: string | null;
  dismissedAt: string | null;
  dismissedReason: string | null;
  supersededBy: string | null;
  createdAt: string;
  updatedAt: string;
}

/** interface: Intelligence scope. */
interface ListedScope {
  id: string;
  itemId: string;
  scopeKind: IntelligenceScopeKind;
  scopeRef: string;
  metadata: Record<string, unknown> | null;
  createdAt: string;
}

/** interface: Intelligence evidence. */
interface ListedEvidence {
  id: string;
  itemId: string;
  evidenceType: IntelligenceEvidenceType;
  ref: string | null;
  path: string | null;
  url: string | null;
  excerpt: string | null;
  metadata: Record<string, unknown> | null;
  createdAt: string;
}

export interface DetailedItem extends ListedItem {
  scopes: ListedScope[];
  evidence: ListedEvidence[];
}

interface ItemFilter {
  kind: string | null;
  status: string | null;
  scopeKind: string | null;
  scopeRef: string | null;
  tag: string | null;
  source: string | null;
  minConfidence: number | null;
}

type Query = ItemFilter & { tenantId: number; repoId: number; limit: number; offset: number };

const byRepo = prepared('intelligence-of-repo', (_db, p: Params<Query>) => {
  const matching = sql`
    t.tenant_id = ${p('tenantId')} and t.repo_id = ${p('repoId')}
    and (${p('kind')}::text is null or t.kind = ${p('kind')})
    and (${p('status')}::text is null or t.status = ${p('status')})
    and (${p('tag')}::text is null or ${p('tag')} = any(t.tags))
    and (${p('source')}::text is null or t.source = ${p('source')})
    and (${p('minConfidence')}::float8 is null or t.confidence >= ${p('minConfidence')})
    and ((${p('scopeKind')}::text is null and ${p('scopeRef')}::text is null) or exists (
      select from intelligence_scopes s
      where s.tenant_id = ${p('tenantId')} and s.item_id = t.id
        and (${p('scopeKind')}::text is null or s.scope_kind = ${p('scopeKind')})
        and (${p('scopeRef')}::text is null or s.scope_ref = ${p('scopeRef')})))`;
  return sql<{ total: number; items: ListedItem[] }>`
    select (select count(*) from intelligence_items t where ${matching}) as total,
      (select coalesce(json_agg(q), '[]') from (
        select ${itemColumns} from intelligence_items t where ${matching}
        order by t.last_observed_at desc, t.id limit ${p('limit')} offset ${p('offset')}) q) as items`;
});

/** Items of a repo, last observed first (index intelligence_items_of_repo). */
export async function itemsOfRepo(read: Db, query: Query): Promise<{ total: number; items: ListedItem[] }> {
  return (await byRepo.first(read, query)) ?? { total: 0, items: [] };
}

const MAX_EVIDENCE = 200;

const byId = prepared(
  'intelligence-by-id',
  (_db, p: Params<{ tenantId: number; id: string; maxEvidence: number }>) => sql<DetailedItem>`
    select ${itemColumns},
      (select coalesce(json_agg(q), '[]') from (
        select s.id, s.item_id as "itemId", s.scope_kind as "scopeKind", s.scope_ref as "scopeRef", s.metadata,
          ${wireTime('s.created_at')} as "createdAt"
        from intelligence_scopes s where s.tenant_id = ${p('tenantId')} and s.item_id = t.id order by s.id) q) as scopes,
      (select coalesce(json_agg(q), '[]') from (
        select e.id, e.item_id as "itemId", e.evidence_type as "evidenceType", e.ref, e.path, e.url, e.excerpt,
          e.metadata, ${wireTime('e.created_at')} as "createdAt"
        from intelligence_evidence e where e.tenant_id = ${p('tenantId')} and e.item_id = t.id
        order by e.id desc limit ${p('maxEvidence')}) q) as evidence
    from intelligence_items t where t.tenant_id = ${p('tenantId')} and t.id = ${p('id')}`,
);

/** An item with its scopes and its newest evidence, 200 pieces at most. */
export const itemById = (db: Db, tenantId: number, id: string): Promise<DetailedItem | undefined> =>
  byId.first(db, { tenantId, id, maxEvidence: MAX_EVIDENCE });
