import type { HostEvent } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from './connection.ts';
import { jsonb, svcNow, svcNowPlus } from './json.ts';

export interface Delivery {
  delivery_id: string;
  events: HostEvent[];
  attempts: number;
}

/** Keeps a webhook's delivery for the intake loop. @returns false when it was received before. */
export async function insertDelivery(db: Db, id: string, event: string, events: HostEvent[]): Promise<boolean> {
  const row = await db
    .insertInto('webhook_deliveries')
    .values({
      delivery_id: id,
      event,
      events: jsonb(events) as never,
      processed_at: events.length === 0 ? svcNow : null,
    })
    .onConflict((c) => c.column('delivery_id').doNothing())
    .returning('delivery_id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Deliveries that wait, oldest first. */
export async function openDeliveries(fleet: Db, limit: number): Promise<Delivery[]> {
  const rows = await fleet
    .selectFrom('webhook_deliveries')
    .select(['delivery_id', 'events', 'attempts'])
    .where('processed_at', 'is', null)
    .where((eb) => eb.or([eb('retry_after', 'is', null), eb('retry_after', '<=', sql<string>`svc_now()`)]))
    .orderBy('received_at')
    .limit(limit)
    .execute();
  return rows as unknown as Delivery[];
}

export async function closeDelivery(db: Db, id: string, error: string | null = null): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({ processed_at: svcNow, error })
    .where('delivery_id', '=', id)
    .execute();
}

export async function postponeDelivery(db: Db, id: string, error: string, delayMs: number): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), error, retry_after: svcNowPlus(delayMs) }))
    .where('delivery_id', '=', id)
    .execute();
}

/** Forgets deliveries that were processed longer ago than a host would repeat them. @returns how many. */
export async function deleteOldDeliveries(fleet: Db, olderThanMs: number): Promise<number> {
  const result = await fleet
    .deleteFrom('webhook_deliveries')
    .where('processed_at', '<', svcNowPlus(-olderThanMs))
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
