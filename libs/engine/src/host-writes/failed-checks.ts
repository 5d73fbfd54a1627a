import type { ReportedCheck } from '@pipeline/domain';
import { insertRemarks } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { moveBy } from '../workflow/move.ts';

/** Sends an issue back to development, with the failed checks and the ends of their logs for its agent. */
export async function returnWithFailedChecks(
  unit: TransactionContext,
  subject: IssueContext,
  { failed, reason }: { failed: readonly ReportedCheck[]; reason: string },
): Promise<void> {
  const comments = failed.map((check) => ({ kind: 'review' as const, author: 'checks', body: commentOn(check) }));
  await insertRemarks(unit.tx, unit.tenantId, subject.issue.id, comments);
  await moveBy(unit, subject, { cause: { trigger: 'checks-failed' }, actor: { ...ENGINE, reason } });
}

const commentOn = ({ name, conclusion, url, logTail }: ReportedCheck): string =>
  [
    `The check ${name} failed (${conclusion ?? 'failure'})${url === null ? '' : `: ${url}`}`,
    ...(logTail ? [logTail] : []),
  ].join('\n\n');
