import type { IssueRow } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordIssueEvent, recordOperation } from '../records/records.ts';
import type { Target } from './target.ts';

/** Records a person's repair of a finding and its changes. The issue may have no record of its own. */
export function recordRepair(
  unit: TransactionContext,
  { target, issue }: { target: Target; issue: IssueRow | undefined },
  actor: Actor,
  { action, ...facts }: { action: string } & Record<string, unknown>,
): void {
  if (issue) recordIssueEvent(unit, { issue }, { status: `${action} by ${actor.type}`, details: facts, actor });
  const place = issue ?? { id: null, repo_id: target.repo.id, issue_number: target.number };
  recordOperation(unit, { issue: place }, actor, { action, finding: target.id, ...facts });
  unit.notify('svc_cache');
}
