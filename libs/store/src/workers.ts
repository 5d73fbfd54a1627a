import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from './connection.ts';
import type { Workers } from './database.generated.ts';
import { jsonb, svcNow } from './json.ts';

export type WorkerRow = Selectable<Workers>;

export interface WorkerInput {
  id: string;
  name: string;
  hostname: string;
  version: string;
  repos: string[];
  taskTypes: string[];
  labels: Record<string, string>;
}

/** A worker is known by its name within a tenant and keeps its id over restarts. A drain outlives a restart too. */
export async function upsertWorker(tx: Tx, tenantId: number, input: WorkerInput): Promise<WorkerRow> {
  const values = {
    hostname: input.hostname,
    version: input.version,
    repos: input.repos,
    task_types: input.taskTypes,
    labels: jsonb(input.labels) as never,
    status: 'idle',
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
      c.columns(['tenant_id', 'name']).doUpdateSet((eb) => ({
        ...values,
        registered_at: eb.ref('excluded.registered_at'),
        last_heartbeat_at: eb.ref('excluded.last_heartbeat_at'),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export const findWorker = (db: Db, tenantId: number, id: string): Promise<WorkerRow | undefined> =>
  db.selectFrom('workers').selectAll().where('tenant_id', '=', tenantId).where('id', '=', id).executeTakeFirst();

/** Those of these workers that were told to drain. */
export async function drainingWorkers(db: Db, tenantId: number, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('workers')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', sql<string>`any(${ids})`)
    .where('draining', '=', true)
    .execute();
  return rows.map((row) => row.id);
}

/** Notes a sign of life. @returns whether the worker is to drain; undefined for an unknown worker. */
export async function touchWorker(
  db: Db,
  tenantId: number,
  id: string,
  status: string,
): Promise<{ draining: boolean } | undefined> {
  return db
    .updateTable('workers')
    .set({ status, last_heartbeat_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning('draining')
    .executeTakeFirst();
}

/** Runs that a worker holds or held and that were taken from it: it must stop working on them. */
export const claimsOfWorker = (db: Db, tenantId: number, workerId: string) =>
  db
    .selectFrom('tasks')
    .select(['id', 'run_id', 'issue_id'])
    .where('tenant_id', '=', tenantId)
    .where('claimed_by', '=', workerId)
    .where('status', '=', 'claimed')
    .execute();
