import { isStorable, type WorkerStatus } from '@pipeline/domain';
import { type Selectable, sql } from 'kysely';
import { msInterval, svcNow } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Change, Db, Tx } from '../driver/database.ts';
import { fleetNote, jsonb } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

export type WorkerRow = Selectable<DB['workers']>;

interface WorkerInput {
  id: string;
  name: string;
  hostname: string;
  version: string;
  repos: string[];
  taskTypes: string[];
  labels: Record<string, string>;
  agents?: string[];
}

/**
 * Registers a worker. It is identified by its name within a tenant and keeps its id, and its drain flag, over restarts.
 * @param ownedBy the token that may lose the name to this one; null = none.
 * @returns undefined when a third token has the name by now; nothing was written then.
 */
export async function upsertWorker(
  tx: Tx,
  tenantId: number,
  input: WorkerInput & { status: WorkerStatus; tokenId: string | null },
  ownedBy: string | null,
): Promise<WorkerRow | undefined> {
  const values = {
    hostname: input.hostname,
    version: input.version,
    repos: input.repos,
    task_types: input.taskTypes,
    labels: jsonb(input.labels),
    agents: input.agents ?? [],
    status: input.status,
    token_id: input.tokenId,
  };
  return tx
    .insertInto('workers')
    .values({
      ...values,
      tenant_id: tenantId,
      id: input.id,
      name: input.name,
      registered_at: svcNow,
      last_heartbeat_at: svcNow,
    })
    .onConflict((c) =>
      c
        .columns(['tenant_id', 'name'])
        .doUpdateSet((eb) => ({
          ...values,
          finishing: false,
          stalled_since: null,
          left_at: null,
          registered_at: eb.ref('excluded.registered_at'),
          last_heartbeat_at: eb.ref('excluded.last_heartbeat_at'),
        }))
        .where((eb) =>
          eb.or([
            eb('workers.token_id', 'is', null),
            eb('workers.token_id', '=', input.tokenId),
            eb('workers.token_id', '=', ownedBy),
          ]),
        ),
    )
    .returningAll()
    .executeTakeFirst();
}

interface WorkerKey {
  tenantId: number;
  id: string;
}

const byId = prepared('worker-by-id', (db, p: Params<WorkerKey>) =>
  db.selectFrom('workers').select(COLUMNS.workers).where('tenant_id', '=', p('tenantId')).where('id', '=', p('id')),
);

export const findWorker = (db: Db, tenantId: number, id: string): Promise<WorkerRow | undefined> =>
  byId.first(db, { tenantId, id });

/** Those of these workers that an operator drains, or that have reported to end with their current task. */
export async function drainingWorkers(db: Db, tenantId: number, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('workers')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', sql<string>`any(${ids})`)
    .where((eb) => eb.or([eb('draining', '=', true), eb('finishing', '=', true)]))
    .execute();
  return rows.map((row) => row.id);
}

const locked = prepared('lock-worker', (db, p: Params<WorkerKey>) =>
  db
    .selectFrom('workers')
    .select(COLUMNS.workers)
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('id'))
    .forUpdate(),
);

/**
 * Locks a worker until the transaction ends. Its lock comes after those of issue, run and task, so that none can
 * deadlock.
 */
export const lockWorker = (tx: Tx, tenantId: number, id: string): Promise<WorkerRow | undefined> =>
  locked.first(tx, { tenantId, id });

export const lockWorkerByName = (tx: Tx, tenantId: number, name: string): Promise<WorkerRow | undefined> =>
  tx
    .selectFrom('workers')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();

/** Finds a worker by its id alone: the only statement about it that does not name its tenant. */
export async function locateWorker(fleet: Db, id: string): Promise<{ tenant_id: number } | undefined> {
  // Such a text is no id, and the store would refuse the query.
  if (!isStorable(id)) return undefined;
  return fleet
    .selectFrom('workers')
    .modifyFront(fleetNote('finds the tenant of an id'))
    .select('tenant_id')
    .where('id', '=', id)
    .executeTakeFirst();
}

/**
 * A heartbeat without changes: one in-place update.
 * @param reported the status that the worker reports.
 * @param key with the presented token; null = any.
 * @returns undefined when it differs from the stored status, or the worker is unknown to that token; nothing was
 * written then.
 */
export const beatWorker = (
  db: Db,
  { tenantId, id, tokenId }: { tenantId: number; id: string; tokenId: string | null },
  reported: { busy: boolean; finishing: boolean },
): Promise<Heard | undefined> =>
  db
    .updateTable('workers')
    .set({ last_heartbeat_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where((eb) =>
      eb.or([eb('token_id', 'is', null), eb('token_id', '=', sql<string>`coalesce(${tokenId}::uuid, token_id)`)]),
    )
    .where('status', 'in', [reported.busy ? 'busy' : 'idle', 'draining'])
    .where('finishing', '=', reported.finishing)
    .where('left_at', 'is', null)
    .returning(['draining', 'stalled_since'])
    .executeTakeFirst();

export type Heard = Pick<WorkerRow, 'draining' | 'stalled_since'>;

/** Updates a worker whose row the caller has locked. */
export async function updateWorker(tx: Tx, tenantId: number, id: string, change: Change<'workers'>): Promise<void> {
  await tx.updateTable('workers').set(change).where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}

/** Time that a worker may be silent before it is offline, and before it counts as gone for good; milliseconds. */
export interface SilenceLimits {
  offlineMs: number;
  goneMs: number;
}

/**
 * Workers whose silence changes their status: candidates only. Costs the workers on the floor (index workers_on_floor).
 */
export const silentWorkers = (
  fleet: Db,
  { offlineMs, goneMs }: SilenceLimits,
  limit: number,
): Promise<{ tenant_id: number; id: string }[]> =>
  fleet
    .selectFrom('workers')
    .modifyFront(fleetNote('upkeep of the fleet'))
    .select(['tenant_id', 'id'])
    .where('left_at', 'is', null)
    .where(
      sql<boolean>`last_heartbeat_at < svc_now() - case status when 'offline' then ${msInterval(goneMs)}
        else ${msInterval(offlineMs)} end`,
    )
    .limit(limit)
    .execute();

/** Returns when a locked worker went offline by its silence, and whether it has left, by the store's clock. */
export async function silenceOf(
  tx: Tx,
  tenantId: number,
  id: string,
  { offlineMs, goneMs }: SilenceLimits,
): Promise<{ offline_since: string | null; gone: boolean } | undefined> {
  const { rows } = await sql<{ offline_since: string | null; gone: boolean }>`
    select case when last_heartbeat_at < svc_now() - ${msInterval(offlineMs)}
        then last_heartbeat_at + ${msInterval(offlineMs)} end as offline_since,
      coalesce(last_heartbeat_at < svc_now() - ${msInterval(goneMs)}, false) as gone
    from workers where tenant_id = ${tenantId} and id = ${id}`.execute(tx);
  return rows[0];
}

/** Removes a worker that has left from the floor until its next heartbeat. */
export async function retireWorker(tx: Tx, tenantId: number, id: string): Promise<void> {
  await updateWorker(tx, tenantId, id, { status: 'offline', stalled_since: null, left_at: svcNow });
}

/**
 * The repo in whose log an action on a worker is recorded: that of its task, else one that it serves, else any of its
 * tenant. @returns null for a tenant without repos.
 */
export async function repoOfWorker(tx: Tx, worker: WorkerRow): Promise<number | null> {
  const { rows } = await sql<{ id: number }>`
    select r.id from repos r
    where r.tenant_id = ${worker.tenant_id}
    order by not exists (
        select from tasks t
        where t.tenant_id = ${worker.tenant_id} and t.repo_id = r.id and t.claimed_by = ${worker.id} and t.status = 'claimed'),
      not r.slug_key = any(${worker.repos.map((slug) => slug.toLowerCase())}), r.id
    limit 1`.execute(tx);
  return rows[0]?.id ?? null;
}
