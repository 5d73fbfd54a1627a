import { type HostPullRequest, revertedBy } from '@pipeline/domain';
import { issueById, markReverted } from '@pipeline/store';
import { inTenant } from '../context/context.ts';
import { recordPipelineEvent } from '../records/records.ts';
import type { Intake } from './intake-context.ts';

/**
 * Records which merged pull requests a merge reverts. The reverting one usually belongs to no issue. A repeated merge
 * event changes nothing.
 */
export async function noteReverts({ engine, repo }: Intake, pr: HostPullRequest): Promise<void> {
  const { numbers, shas } = revertedBy(pr.body, repo);
  if (!pr.merged || numbers.length + shas.length === 0) return;
  await inTenant(engine, repo.tenant_id, async (unit) => {
    const reverted = await markReverted(unit.tx, unit.tenantId, { repoId: repo.id, numbers, shas, by: pr.number });
    for (const { number, issueId } of reverted) {
      const issue = issueId === null ? undefined : await issueById(unit.tx, unit.tenantId, issueId);
      const about = { repo_id: repo.id, id: issueId, issue_number: issue?.issue_number ?? null };
      const payload = { prNumber: number, revertedBy: pr.number };
      recordPipelineEvent(unit, { issue: about }, { eventType: 'pr_reverted', agent: 'operator', payload });
    }
  });
}
