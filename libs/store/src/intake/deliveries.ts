import type { HostEvent } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { svcNow, svcNowPlus } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

export interface Delivery {
  delivery_id: string;
  /** Subject of the delivery: deliveries of one lane are handled in order of arrival. */
  lane: string;
  events: HostEvent[];
  attempts: number;
}

type NewDelivery = Pick<Delivery, 'lane' | 'events'> & { id: string; event: string };

type Written = Omit<NewDelivery, 'events'> & { events: string };

const inserted = (name: string, processedAt: RawBuilder<string | null>) =>
  prepared(name, (db, p: Params<Written>) =>
    db
      .insertInto('webhook_deliveries')
      .values({
        delivery_id: p('id'),
        event: p('event'),
        lane: p('lane'),
        events: sql`${p('events')}::jsonb`,
        processed_at: processedAt,
      })
      .onConflict((c) => c.column('delivery_id').doNothing()),
  );
const insert = inserted('insert-delivery', sql`null::timestamptz`);
const insertIgnored = inserted('insert-ignored-delivery', svcNow);

/** Stores a webhook delivery for the intake loop. @returns false when it was received before. */
export async function insertDelivery(db: Db, { id, event, lane, events }: NewDelivery): Promise<boolean> {
  const written = { id, event, lane, events: JSON.stringify(events) };
  return (await (events.length === 0 ? insertIgnored : insert).count(db, written)) > 0;
}

const open = prepared('open-deliveries', (db, p: Params<{ limit: number; except: readonly string[] }>) =>
  db
    .selectFrom('webhook_deliveries')
    .select(['delivery_id', 'lane', 'events', 'attempts'])
    .where('processed_at', 'is', null)
    .where((eb) => eb.or([eb('retry_after', 'is', null), eb('retry_after', '<=', sql<string>`svc_now()`)]))
    .where('lane', '<>', sql<string>`all(${p('except')}::text[])`)
    .orderBy('received_at')
    .orderBy('delivery_id')
    .limit(p('limit')),
);

/** Pending deliveries, oldest first, except those of the lanes in `except` (index webhook_deliveries_open). */
export async function openDeliveries(fleet: Db, limit: number, except: readonly string[]): Promise<Delivery[]> {
  return (await open.all(fleet, { limit, except })) as unknown as Delivery[];
}

interface InboxBacklog {
  /** Deliveries that may be handled now. */
  waiting: number;
  /** Failed deliveries that wait for their next attempt. */
  retrying: number;
  /** Age of the oldest delivery that may be handled now, in seconds; 0 when there is none. */
  lagSeconds: number;
}

/** The intake backlog. Reads the open deliveries only (index webhook_deliveries_open). */
export async function inboxBacklog(fleet: Db): Promise<InboxBacklog> {
  const { rows } = await sql<InboxBacklog>`
    select count(*) filter (where due_at <= svc_now()) as waiting, count(*) filter (where due_at > svc_now()) as retrying,
      coalesce(extract(epoch from svc_now() - min(due_at) filter (where due_at <= svc_now())), 0)::float8 as "lagSeconds"
    from (select coalesce(retry_after, received_at) as due_at from webhook_deliveries where processed_at is null) d`.execute(
    fleet,
  );
  return rows[0] ?? { waiting: 0, retrying: 0, lagSeconds: 0 };
}

const close = prepared('close-delivery', (db, p: Params<{ id: string; error: string | null }>) =>
  db
    .updateTable('webhook_deliveries')
    .set({ processed_at: svcNow, error: p('error') })
    .where('delivery_id', '=', p('id')),
);

export async function closeDelivery(db: Db, id: string, error: string | null = null): Promise<void> {
  await close.run(db, { id, error });
}

export async function postponeDelivery(db: Db, id: string, error: string, delayMs: number): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), error, retry_after: svcNowPlus(delayMs) }))
    .where('delivery_id', '=', id)
    .execute();
}
