import type { IntelligenceStatus } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/**
 * Finds the tenant and the repo of an item. On a distributed store this statement runs on all nodes; all that follow
 * name the tenant.
 */
export const locateItem = (fleet: Db, id: string): Promise<{ tenant_id: number; repo_id: number } | undefined> =>
  fleet
    .selectFrom('intelligence_items')
    .modifyFront(fleetNote('finds the tenant of an id'))
    .select(['tenant_id', 'repo_id'])
    .where('id', '=', id)
    .executeTakeFirst();

export const lockItem = (tx: Tx, tenantId: number, id: string) =>
  tx
    .selectFrom('intelligence_items')
    .select(['id', 'status', 'repo_id', 'source_issue_id'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

interface ItemChange {
  status: IntelligenceStatus;
  /** The login or name of the person who decided. */
  by: string;
  dismissedReason: string | null;
  supersededBy: string | null;
}

export async function setItemStatus(tx: Tx, tenantId: number, id: string, change: ItemChange): Promise<void> {
  await tx
    .updateTable('intelligence_items')
    .set({
      status: change.status,
      updated_at: svcNow,
      ...(change.status === 'approved' && { approved_at: svcNow, approved_by: change.by }),
      ...(change.status === 'dismissed' && { dismissed_at: svcNow, dismissed_reason: change.dismissedReason }),
      ...(change.status === 'superseded' && { superseded_by: change.supersededBy }),
    })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Items without a decision that were neither reported nor given to an agent since then become stale. */
const staleSince = (days: number) => sql<string>`svc_now() - ${`${days} days`}::interval`;

/** Stale items of all tenants, oldest first (index intelligence_items_to_expire). */
export const staleItems = (fleet: Db, { days, limit }: { days: number; limit: number }) =>
  fleet
    .selectFrom('intelligence_items')
    .modifyFront(fleetNote('looks for what went stale'))
    .select(['tenant_id', 'id'])
    .where('status', 'in', ['candidate', 'observed'])
    .where('last_observed_at', '<', staleSince(days))
    .where((where) => where.or([where('last_used_at', 'is', null), where('last_used_at', '<', staleSince(days))]))
    .orderBy('last_observed_at')
    .limit(limit)
    .execute();

/** Dismisses an item if it is still stale. @returns its repo, undefined when it changed meanwhile. */
export const dismissStale = (
  tx: Tx,
  tenantId: number,
  { id, days, reason }: { id: string; days: number; reason: string },
): Promise<{ repo_id: number } | undefined> =>
  tx
    .updateTable('intelligence_items')
    .set({ status: 'dismissed', dismissed_at: svcNow, dismissed_reason: reason, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', 'in', ['candidate', 'observed'])
    .where('last_observed_at', '<', staleSince(days))
    .where((where) => where.or([where('last_used_at', 'is', null), where('last_used_at', '<', staleSince(days))]))
    .returning(['repo_id'])
    .executeTakeFirst();

const USED_EVERY = sql<string>`svc_now() - interval '1 day'`;

/** Refreshes items that an agent was given; written once a day at most. */
export async function noteItemsUsed(tx: Tx, tenantId: number, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .updateTable('intelligence_items')
    .set({ last_used_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', 'in', ids)
    .where((where) => where.or([where('last_used_at', 'is', null), where('last_used_at', '<', USED_EVERY)]))
    .execute();
}
