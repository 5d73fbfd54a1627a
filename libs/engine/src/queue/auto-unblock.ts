import { formatSlug } from '@pipeline/domain';
import { dueAutoUnblocks, lockIssue } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { countHandled } from '../context/handle-each.ts';
import type { Actor } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { moveBy } from '../workflow/move.ts';

const BATCH = 500;
const systemActor = (reason: string): Actor => ({ type: 'system', id: 'auto-unblock', agent: null, reason });
const TRANSIENT = systemActor('transient failure, backoff over');
const QUOTA = systemActor('wait for a quota over');

/**
 * Lifts transient blocks with an expired backoff, each at most `maxAutoUnblocksPerIssue` times (interface: automatic
 * unblock). The settings are read again, so disabling it applies to due blocks. A quota block is lifted whenever its
 * wait is over, without a maximum: the task is tried once, and the issue is blocked again while the quota lasts.
 * @param onLifted called with the repo of each, after its commit.
 * @returns how many were lifted.
 */
export async function autoUnblock(engine: Engine, onLifted?: (repo: string) => void): Promise<number> {
  const due = await dueAutoUnblocks(engine.store.db, BATCH);
  return countHandled('blocks to lift', due, async ({ tenant_id, id }) => {
    const repo = await lift(engine, tenant_id, id);
    if (repo !== null) onLifted?.(repo);
    return repo !== null;
  });
}

function lift(engine: Engine, tenantId: number, issueId: number): Promise<string | null> {
  return inTenant(engine, tenantId, async (unit) => {
    const issue = await lockIssue(unit.tx, tenantId, issueId);
    if (!issue || issue.auto_unblock_at === null) return null;
    if (issue.state === 'failure-blocked' && issue.block_classification === 'quota') {
      const over = { auto_unblock_at: null };
      unit.rows.setIssue(issueId, over);
      const subject = await loadIssueContext(unit, { ...issue, ...over });
      await moveBy(unit, subject, { cause: { trigger: 'unblocked' }, actor: QUOTA });
      return formatSlug(subject.repo);
    }
    const { autoUnblockTransient, maxAutoUnblocksPerIssue } = unit.settings.selfHealing;
    const allowed = autoUnblockTransient && issue.auto_unblock_count < maxAutoUnblocksPerIssue;
    if (!allowed || issue.state !== 'failure-blocked') {
      unit.rows.setIssue(issueId, { auto_unblock_at: null });
      return null;
    }
    const count = issue.auto_unblock_count + 1;
    const counted = { auto_unblock_count: count, auto_unblock_at: null };
    unit.rows.setIssue(issueId, counted);
    const subject = await loadIssueContext(unit, { ...issue, ...counted });
    await moveBy(unit, subject, { cause: { trigger: 'unblocked' }, actor: TRANSIENT });
    return formatSlug(subject.repo);
  });
}
