import type {
  IntelligenceEvidenceType,
  IntelligenceKind,
  IntelligenceScopeKind,
  IntelligenceStatus,
} from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** An item with the data for its score and its text for an agent. */
interface RetrievedItem {
  id: string;
  kind: IntelligenceKind;
  title: string;
  summary: string;
  status: IntelligenceStatus;
  confidence: number | null;
  qualityScore: number | null;
  source: string;
  scopes: { kind: IntelligenceScopeKind; ref: string }[];
  /** The newest three pieces. */
  evidence: { type: IntelligenceEvidenceType; ref: string | null; path: string | null; url: string | null }[];
  /** The item refers to files, and the map of the repo has none of them any more. */
  evidenceMissing: boolean;
}

/**
 * Agents continue to add scopes and evidence to an approved item; additions that the operator has not seen are not
 * given to agents.
 */
const seen = (alias: string) =>
  sql`(t.status <> 'approved' or t.approved_at is null or ${sql.ref(`${alias}.created_at`)} <= t.approved_at)`;

const details = prepared(
  'retrieved-items',
  (_db, p: Params<{ tenantId: number; ids: readonly string[]; isMapped: boolean }>) => sql<RetrievedItem>`
    select t.id, t.kind, t.title, t.summary, t.status, t.confidence, t.quality_score as "qualityScore", t.source,
      (select coalesce(json_agg(json_build_object('kind', s.scope_kind, 'ref', s.scope_ref) order by s.id), '[]')
        from intelligence_scopes s where s.tenant_id = ${p('tenantId')} and s.item_id = t.id and ${seen('s')}) as scopes,
      (select coalesce(json_agg(q), '[]') from (
        select e.evidence_type as type, e.ref, e.path, e.url from intelligence_evidence e
        where e.tenant_id = ${p('tenantId')} and e.item_id = t.id and ${seen('e')} order by e.id desc limit 3) q) as evidence,
      ${p('isMapped')}::boolean
        and exists (
          select from intelligence_evidence e
          where e.tenant_id = ${p('tenantId')} and e.item_id = t.id and e.evidence_type = 'file' and e.path is not null)
        and not exists (
          select from intelligence_evidence e
          join repo_files f on f.tenant_id = ${p('tenantId')} and f.repo_id = t.repo_id and f.path = e.path
          where e.tenant_id = ${p('tenantId')} and e.item_id = t.id and e.evidence_type = 'file') as "evidenceMissing"
    from intelligence_items t where t.tenant_id = ${p('tenantId')} and t.id = any(${p('ids')}::uuid[])`,
);

/** @param isMapped whether the repo was scanned: without a map no file is known to be missing. */
export const retrievedItems = (
  read: Db,
  wanted: { tenantId: number; ids: readonly string[]; isMapped: boolean },
): Promise<RetrievedItem[]> => (wanted.ids.length === 0 ? Promise.resolve([]) : details.all(read, wanted));
