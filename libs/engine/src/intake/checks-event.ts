import { type HostEvent, judgeChecks, othersChecks } from '@pipeline/domain';
import { checksOfCommit, hastenMerge, issuesAtHead, lockIssue, saveChecks } from '@pipeline/store';
import { inTenant, type TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { moveBy } from '../workflow/move.ts';
import type { Intake } from './intake-context.ts';

type ChecksEvent = Extract<HostEvent, { kind: 'checks' }>;

/**
 * Stores reported checks of the head of an own pull request, and makes its waiting merge due, which reads the host again
 * before it decides. A block by `ci_timeout` ends when all checks of the head are green after all. Reports about other
 * commits are ignored.
 */
export async function applyChecksEvent({ engine, repo }: Intake, event: ChecksEvent): Promise<void> {
  const key = { tenantId: repo.tenant_id, repoId: repo.id, sha: event.headSha };
  for (const issueId of await issuesAtHead(engine.store.tenant, key)) {
    await inTenant(engine, repo.tenant_id, async (unit) => {
      const issue = await lockIssue(unit.tx, unit.tenantId, issueId);
      if (!issue) return;
      await saveChecks(unit.tx, key, othersChecks(event.checks));
      unit.dirtyIssues.changed.add(issue.id);
      if (issue.state === 'merge-pending' && (await hastenMerge(unit.tx, issue))) {
        unit.notify('svc_projections');
      }
      if (issue.state === 'failure-blocked' && issue.block_reason === 'ci_timeout') {
        await unblockIfGreen(unit, await loadIssueContext(unit, issue), event.headSha);
      }
    });
  }
}

async function unblockIfGreen(unit: TransactionContext, subject: IssueContext, sha: string): Promise<void> {
  const { issue, pr } = subject;
  if (issue.blocked_from_state !== 'merge-pending' || pr?.head_sha !== sha) return;
  const rows = await checksOfCommit(unit.tx, { tenantId: unit.tenantId, repoId: issue.repo_id, sha });
  const checks = rows.map((row) => ({
    kind: row.kind,
    name: row.name,
    state: row.state,
    conclusion: row.conclusion,
    url: row.url,
    hostId: row.host_id,
    at: row.reported_at,
  }));
  const { verdict } = judgeChecks(checks as never, { required: [], policy: 'all', isAllowed: false });
  if (verdict !== 'green') return;
  const actor = { ...ENGINE, reason: `all checks of ${sha} are green` };
  await moveBy(unit, subject, { cause: { trigger: 'unblocked' }, actor, stop: { lastError: null } });
}
