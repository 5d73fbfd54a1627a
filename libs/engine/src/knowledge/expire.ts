import { STALE, STALE_AFTER_DAYS } from '@pipeline/domain';
import { dismissStale, staleItems } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { recordPipelineEvent } from '../records/records.ts';

const BATCH = 500;

/**
 * Dismisses items without a decision that were neither reported nor given to an agent for 90 days. Each in its own
 * transaction, by compare-and-set, so any number of replicas may run it concurrently.
 * @returns how many were dismissed, and whether there may be more.
 */
export async function expireIntelligence(engine: Engine): Promise<{ dismissed: number; more: boolean }> {
  const stale = await staleItems(engine.store.db, { days: STALE_AFTER_DAYS, limit: BATCH });
  let dismissed = 0;
  for (const { tenant_id, id } of stale) {
    const done = await inTenant(engine, tenant_id, async (unit) => {
      const row = await dismissStale(unit.tx, tenant_id, { id, days: STALE_AFTER_DAYS, reason: STALE });
      if (!row) return false;
      const subject = { issue: { repo_id: row.repo_id, issue_number: null, id: null } };
      const payload = { itemId: id, reason: STALE };
      recordPipelineEvent(unit, subject, { eventType: 'intelligence_dismissed', agent: 'workflow-engine', payload });
      return true;
    });
    if (done) dismissed += 1;
  }
  return { dismissed, more: stale.length === BATCH };
}
