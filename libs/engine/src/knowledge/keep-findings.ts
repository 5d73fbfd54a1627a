import type { FindingInput } from '@pipeline/domain';
import { type IssueRow, issueById, type RecordOwner, recordFindings, resolveFindingsOf } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { IssueContext } from '../context/issue-context.ts';
import { type EventSubject, recordPipelineEvent } from '../records/records.ts';
import { recordClosing } from './move-finding.ts';
import { learnFromRecurrence } from './observe.ts';

/** Records the findings of a run, reports the new ones, and derives items from repeated ones. */
export async function keepFindings(
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

/** Resolves the findings that a done issue was to settle. */
export async function settleFindings(unit: TransactionContext, { issue }: Pick<IssueContext, 'issue'>): Promise<void> {
  for (const finding of await resolveFindingsOf(unit.tx, unit.tenantId, issue.id)) {
    const own = finding.issue_id === null ? undefined : await issueById(unit.tx, unit.tenantId, finding.issue_id);
    const subject: EventSubject = { issue: own ?? { repo_id: finding.repo_id, issue_number: null, id: null } };
    recordClosing(unit, subject, { id: finding.id, from: 'accepted', to: 'resolved', by: 'workflow-engine' });
  }
}
