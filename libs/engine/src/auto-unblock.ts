import { dueAutoUnblocks, lockIssue, updateIssue } from '@pipeline/store';
import { type Engine, inTenant } from './context.ts';
import { moveBy } from './move.ts';
import { type Actor, subjectOf } from './subject.ts';

const BATCH = 500;
const HEALER: Actor = { type: 'system', id: 'auto-unblock', agent: null, reason: 'transient failure, backoff over' };

/**
 * Lifts transient blocks whose backoff is over, each at most `maxAutoUnblocksPerIssue` times (interface: automatic
 * unblock). The settings are asked again, so switching it off holds for blocks that were due already.
 * @returns how many were lifted.
 */
export async function autoUnblock(engine: Engine): Promise<number> {
  let lifted = 0;
  for (const { tenant_id, id } of await dueAutoUnblocks(engine.store.fleet, BATCH)) {
    if (await lift(engine, tenant_id, id)) lifted += 1;
  }
  return lifted;
}

function lift(engine: Engine, tenantId: number, issueId: number): Promise<boolean> {
  return inTenant(engine, tenantId, async (unit) => {
    const issue = await lockIssue(unit.tx, tenantId, issueId);
    if (!issue || issue.auto_unblock_at === null) return false;
    const { autoUnblockTransient, maxAutoUnblocksPerIssue } = unit.settings.selfHealing;
    const allowed = autoUnblockTransient && issue.auto_unblock_count < maxAutoUnblocksPerIssue;
    if (!allowed || issue.state !== 'failure-blocked') {
      await updateIssue(unit.tx, tenantId, issueId, { auto_unblock_at: null });
      return false;
    }
    const count = issue.auto_unblock_count + 1;
    await updateIssue(unit.tx, tenantId, issueId, { auto_unblock_count: count });
    const subject = await subjectOf(unit, { ...issue, auto_unblock_count: count });
    await moveBy(unit, subject, { cause: { trigger: 'unblocked' }, actor: HEALER });
    return true;
  });
}
