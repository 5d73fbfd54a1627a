import type { IssueRow } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordIssueEvent, recordIssueOperation, recordOperation } from '../records/records.ts';
import type { Target } from './target.ts';

/** Records a person's repair of a finding and its changes. The issue may have no record of its own. */
export function recordRepair(
  unit: TransactionContext,
  { target, issue }: { target: Target; issue: IssueRow | undefined },
  actor: Actor,
  { action, ...facts }: { action: string } & Record<string, unknown>,
): void {
  const operation = { action, finding: target.id, ...facts };
  if (issue) {
    recordIssueEvent(unit, { issue }, { status: `${action} by ${actor.type}`, details: facts, actor });
    recordIssueOperation(unit, { issue, repo: target.repo }, actor, operation);
  } else {
    const place = { id: null, repo_id: target.repo.id, issue_number: target.number };
    recordOperation(unit, { issue: place }, actor, operation);
  }
  unit.notify('svc_cache');
}
