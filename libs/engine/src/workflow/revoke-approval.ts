import { setApproval } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext } from '../context/issue-context.ts';
import { moveBy } from './move.ts';

/** Revokes the approval of a pull request; an issue that waits for its merge needs a person again. */
export async function revokeApproval(unit: TransactionContext, subject: IssueContext, actor: Actor): Promise<void> {
  const { issue, pr } = subject;
  if (!pr) return;
  await setApproval(unit.tx, unit.tenantId, pr.id, null);
  if (issue.state !== 'merge-pending') return;
  await moveBy(unit, subject, { cause: { trigger: 'review-dismissed' }, actor });
}
