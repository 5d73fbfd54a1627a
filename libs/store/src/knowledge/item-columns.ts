import { sql } from 'kysely';
import { wireTime } from '../driver/fragments.ts';

/** A row `t` of intelligence_items in the form of the API (interface: Intelligence item). */
export const itemColumns = sql`
  t.id, t.tenant_id as "tenantId", t.repo_id as "repoId", t.kind, t.title, t.summary, t.details, t.status, t.confidence,
  t.quality_score as "qualityScore", t.source, t.source_agent as "sourceAgent", t.source_issue_id as "sourceIssueId",
  t.source_pr_id as "sourcePrId", t.source_finding_id as "sourceFindingId",
  t.source_retrospective_id as "sourceRetrospectiveId", t.metadata, t.tags,
  ${wireTime('t.first_observed_at')} as "firstObservedAt", ${wireTime('t.last_observed_at')} as "lastObservedAt",
  t.observation_count as "observationCount", ${wireTime('t.approved_at')} as "approvedAt",
  t.approved_by as "approvedBy", ${wireTime('t.dismissed_at')} as "dismissedAt",
  t.dismissed_reason as "dismissedReason", t.superseded_by as "supersededBy",
  ${wireTime('t.created_at')} as "createdAt", ${wireTime('t.updated_at')} as "updatedAt"`;
