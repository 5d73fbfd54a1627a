import { DEFAULT_WORKFLOW } from '@pipeline/domain';
import {
  contextAndTaskOfIssue,
  contextOfIssue,
  contextOfIssueNumber,
  type IssueContextRow,
  type IssueRow,
  lockIssue,
  lockIssueByNumber,
} from '@pipeline/store';
import type { TransactionContext } from './context.ts';
import type { CurrentWork, IssueContext, OnIssue, OpenIssue } from './issue-context.ts';

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
  const rest = known ?? (await contextOfIssue(unit.tx, unit.tenantId, issue.id));
  if (!rest) throw new Error(`tenant ${unit.tenantId} has no repo ${issue.repo_id}`);
  return issueContextOf(unit, issue, rest);
}

/**
 * Locks an issue and its work task, and reads the rest of its context: one round trip, for use cases that change both. The
 * lock is sent at once: what a caller sends beside this call is read after the lock.
 * @returns undefined for an unknown issue.
 */
export async function openIssue(unit: TransactionContext, issueId: number): Promise<OpenIssue | undefined> {
  const { tx, tenantId } = unit;
  const [, issue, around] = await Promise.all([
    unit.rows.write(),
    lockIssue(tx, tenantId, issueId),
    contextAndTaskOfIssue(tx, tenantId, issueId),
  ]);
  if (!issue || !around) return undefined;
  unit.dirtyIssues.changed.add(issueId);
  return { ...onIssue(unit, issue, around), hasWorkflow: around.rest.workflow !== null };
}

/** A locked issue and what was read with its task, after the lock. */
export const onIssue = (
  unit: TransactionContext,
  issue: IssueRow,
  { rest, task }: { rest: IssueContextRow; task: CurrentWork['task'] },
): OnIssue => ({ subject: issueContextOf(unit, issue, rest), work: { task, lingering: rest.lingering } });

/**
 * Locks an issue by its number, and reads the rest: one round trip. The lock is sent at once: what a caller sends beside
 * this call is read after the lock. @returns undefined for an unknown issue.
 */
export async function lockIssueContext(
  unit: TransactionContext,
  { repoId, number }: { repoId: number; number: number },
): Promise<IssueContext | undefined> {
  const { tx, tenantId } = unit;
  const [, issue, rest] = await Promise.all([
    unit.rows.write(),
    lockIssueByNumber(tx, tenantId, repoId, number),
    contextOfIssueNumber(tx, tenantId, { repoId, number }),
  ]);
  return issue && rest && loadIssueContext(unit, issue, rest);
}

/** The context of an issue from its locked row and the rest, which was read after the lock. */
export const issueContextOf = (
  { settings }: TransactionContext,
  issue: IssueRow,
  { workflow, lingering: _, ...rest }: IssueContextRow,
): IssueContext => ({
  issue,
  ...rest,
  workflow: workflow ?? DEFAULT_WORKFLOW,
  dismissStale: settings.review.dismissStale,
});
