import { DEFAULT_WORKFLOW } from '@pipeline/domain';
import { contextOfIssue, type IssueContextRow, type IssueRow } from '@pipeline/store';
import type { TransactionContext } from './context.ts';
import type { IssueContext } from './issue-context.ts';

/**
 * Reads the rest of the context of an issue whose row the caller has locked: one statement. The caller is about to
 * change the issue, so its list row is marked to be rewritten.
 * @param known that rest, read under the same lock, when nothing that it contains has changed since.
 */
export async function loadIssueContext(
  unit: TransactionContext,
  issue: IssueRow,
  known?: IssueContextRow,
): Promise<IssueContext> {
  unit.dirtyIssues.changed.add(issue.id);
  return issueContextOf(unit, issue, known ?? (await contextOfIssue(unit.tx, issue)));
}

/** The context of an issue from its locked row and the rest, which was read after the lock. */
export const issueContextOf = (
  { settings }: TransactionContext,
  issue: IssueRow,
  { workflow, ...rest }: IssueContextRow,
): IssueContext => ({
  issue,
  ...rest,
  workflow: workflow ?? DEFAULT_WORKFLOW,
  dismissStale: settings.review.dismissStale,
});
