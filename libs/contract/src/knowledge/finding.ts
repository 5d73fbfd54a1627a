import { FINDING_STATUSES, FindingEvidence, SEVERITIES } from '@pipeline/domain';
import { z } from '@pipeline/domain/zod';
import { Timestamp } from '../wire/envelopes.ts';

/** interface: Agent finding. */
export const AgentFinding = z
  .object({
    id: z.string(),
    tenantId: z.int(),
    repoId: z.int(),
    issueId: z.int().nullable(),
    issueNumber: z.int().nullable(),
    prId: z.int().nullable(),
    prNumber: z.int().nullable(),
    agentName: z.string(),
    taskId: z.string().nullable(),
    findingType: z.string(),
    category: z.string(),
    severity: z.enum(SEVERITIES),
    confidence: z.number().min(0).max(1).nullable(),
    title: z.string(),
    summary: z.string(),
    recommendation: z.string().nullable(),
    evidence: z.array(FindingEvidence),
    metadata: z.record(z.string(), z.unknown()),
    blocksProgress: z.boolean(),
    status: z.enum(FINDING_STATUSES),
    resolvedByIssueId: z.int().nullable(),
    resolvedAt: Timestamp.nullable(),
    dismissedReason: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'AgentFinding', description: 'An observation that an agent reported.' });
