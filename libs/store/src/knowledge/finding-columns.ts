import type { FindingEvidence } from '@pipeline/domain';
import { sql } from 'kysely';
import { wireTime } from '../driver/fragments.ts';

/**
 * A row `f` of findings in the form of the API (interface: Agent finding). The probes are by primary or unique keys.
 */
export const findingColumns = sql`
  f.id, f.tenant_id as "tenantId", f.repo_id as "repoId", f.issue_id as "issueId",
  (select i.issue_number from issues i where i.tenant_id = f.tenant_id and i.id = f.issue_id) as "issueNumber",
  (select pr.id from pull_requests pr
    where pr.tenant_id = f.tenant_id and pr.repo_id = f.repo_id and pr.number = f.pr_number) as "prId",
  f.pr_number as "prNumber", f.agent_name as "agentName",
  (select r.task_id from runs r where r.tenant_id = f.tenant_id and r.id = f.run_id) as "taskId",
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
