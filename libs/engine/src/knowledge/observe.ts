import {
  cappedText,
  type FindingInput,
  type IntelligenceEvidenceInput,
  type IntelligenceInput,
  type IntelligenceKind,
  type IntelligenceScopeInput,
  placeOf,
} from '@pipeline/domain';
import {
  type IssueRow,
  type Observation,
  observeItems,
  type RecordedFinding,
  type RecordOwner,
  recordFindings,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { type EventSubject, recordPipelineEvent } from '../records/records.ts';

/** Stores the observations of an agent's report. */
export async function saveIntelligence(
  unit: TransactionContext,
  owner: RecordOwner & { issueNumber: number | null },
  { items, retrospectiveId }: { items: readonly IntelligenceInput[]; retrospectiveId: string | null },
): Promise<void> {
  const source = retrospectiveId === null ? 'report' : 'retrospective';
  const observations = items.map((item): Observation => {
    const evidence = [...item.evidence];
    if (owner.issueNumber !== null) evidence.push(evidenceOf('issue', `#${owner.issueNumber}`));
    if (retrospectiveId !== null) evidence.push(evidenceOf('retrospective', retrospectiveId));
    return { ...item, evidence, seen: 1, findingId: null };
  });
  await observeItems(unit.tx, unit.tenantId, { ...sourceOf(owner, source), retrospectiveId }, observations);
}

const KIND_OF: Readonly<Record<string, IntelligenceKind>> = {
  ci_failure: 'failure_pattern',
  deterministic_check_failure: 'failure_pattern',
  pre_existing_check_failure: 'failure_pattern',
  integration_gap: 'coupling',
  integration_issue: 'coupling',
  semantic_conflict: 'coupling',
  requirements_gap: 'workflow_playbook',
  cost_anomaly: 'workflow_playbook',
  protected_path_violation: 'risk_area',
  risk: 'risk_area',
};

/** Derives items from recurring findings. */
async function learnFromRecurrence(
  unit: TransactionContext,
  owner: RecordOwner,
  recurring: readonly RecordedFinding[],
): Promise<void> {
  const learnt = recurring.map(({ id, input, occurrences }): Observation => {
    const { path, symbol } = placeOf(input.evidence);
    return {
      kind: KIND_OF[input.findingType] ?? 'implementation_note',
      title: input.title,
      summary: cappedText(input.summary, 5_000),
      details: input.recommendation,
      confidence: input.confidence,
      tags: [input.findingType, input.category].map((tag) => cappedText(tag, 50)),
      scopes: scopesOf(input, { path, symbol }),
      evidence: [{ ...evidenceOf('finding', id), path: path || null }],
      seen: occurrences,
      findingId: id,
    };
  });
  await observeItems(unit.tx, unit.tenantId, sourceOf(owner, 'finding'), learnt);
}

function scopesOf(input: FindingInput, { path, symbol }: { path: string; symbol: string }): IntelligenceScopeInput[] {
  const scopes: IntelligenceScopeInput[] = [];
  if (path) scopes.push({ kind: 'file', ref: cappedText(path, 500) });
  if (symbol) scopes.push({ kind: 'symbol', ref: cappedText(symbol, 500) });
  return scopes.length > 0 ? scopes : [{ kind: 'repo', ref: cappedText(input.category, 500) }];
}

const evidenceOf = (type: IntelligenceEvidenceInput['type'], ref: string): IntelligenceEvidenceInput => ({
  type,
  ref,
  path: null,
  url: null,
  excerpt: null,
});

const sourceOf = (owner: RecordOwner, source: string) => ({
  repoId: owner.repoId,
  source,
  agent: owner.agent,
  issueId: owner.issueId,
  prId: owner.prId,
  retrospectiveId: null,
});

/** Records the findings of a run, reports the new ones, and derives items from repeated ones. */
export async function saveFindings(
  unit: TransactionContext,
  owner: RecordOwner,
  issue: IssueRow | undefined,
  items: readonly FindingInput[],
): Promise<void> {
  const recorded = await recordFindings(unit.tx, unit.tenantId, owner, items);
  const subject: EventSubject = { issue: issue ?? { repo_id: owner.repoId, issue_number: null, id: null } };
  for (const { id, what } of recorded) {
    if (what === 'repeated') continue;
    recordPipelineEvent(unit, subject, { eventType: 'finding_opened', agent: owner.agent, payload: { findingId: id } });
  }
  await learnFromRecurrence(
    unit,
    owner,
    recorded.filter(({ occurrences }) => occurrences > 1),
  );
}
