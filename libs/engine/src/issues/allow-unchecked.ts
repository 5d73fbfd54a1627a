import { AppError } from '@pipeline/domain';
import { hastenMerge, lockIssue, updatePullRequest } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { Actor, IssueKey } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { recordIssueOperation } from '../records/records.ts';
import { moveBy } from '../workflow/move.ts';

/**
 * An operator allows the head of an issue's own pull request, and no later one, to be merged although no check reports on
 * it. Checks that do report still decide. An issue that was blocked for want of checks goes on.
 * @returns the head; null = the issue has no open pull request, and nothing was allowed.
 * @throws AppError ISSUE_NOT_FOUND.
 */
export function allowUncheckedMerge(
  engine: Engine,
  { tenantId, issueId }: IssueKey,
  actor: Actor,
): Promise<string | null> {
  return inTenant(engine, tenantId, async (unit) => {
    const issue = await lockIssue(unit.tx, tenantId, issueId);
    if (!issue) throw new AppError('ISSUE_NOT_FOUND', 'Issue not found');
    const subject = await loadIssueContext(unit, issue);
    const { pr } = subject;
    recordIssueOperation(unit, subject, actor, { action: 'allow-unchecked-merge', headSha: pr?.head_sha ?? null });
    if (!pr) return null;
    await updatePullRequest(unit.tx, tenantId, pr.id, { unchecked_sha: pr.head_sha });
    if (await hastenMerge(unit.tx, issue)) unit.notify('svc_projections');
    const isBlocked = issue.state === 'failure-blocked' && issue.block_reason === 'ci_timeout';
    if (isBlocked) await moveBy(unit, subject, { cause: { trigger: 'unblocked' }, actor, stop: { lastError: null } });
    return pr.head_sha;
  });
}
