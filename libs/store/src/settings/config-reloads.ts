import type { ConfigReloadOutcome } from '@pipeline/domain';
import { sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';

export interface ReloadReport {
  agentName: string;
  /** Identifies one of the processes of that name, such as `host:8090`. */
  instance: string;
  outcome: ConfigReloadOutcome;
}

/**
 * Records the outcome of a process's configuration reload: one row per process, never an older outcome over a newer
 * one.
 */
export async function upsertReload(tx: Tx, { agentName, instance, outcome }: ReloadReport): Promise<void> {
  const row = {
    status: outcome.status,
    applied_keys: outcome.appliedKeys,
    deferred_keys: outcome.deferredKeys,
    error: outcome.error,
    error_code: outcome.errorCode,
    trigger: outcome.trigger,
    at: outcome.at,
  };
  await tx
    .insertInto('config_reloads')
    .values({ agent_name: agentName, instance, ...row })
    .onConflict((c) =>
      c.columns(['agent_name', 'instance']).doUpdateSet(row).whereRef('excluded.at', '>=', 'config_reloads.at'),
    )
    .execute();
}

/** The last outcome of each process, by name. */
export async function reloadReports(db: Db): Promise<ReloadReport[]> {
  const rows = await db.selectFrom('config_reloads').selectAll().orderBy('agent_name').orderBy('instance').execute();
  return rows.map(({ agent_name, instance, ...row }) => ({
    agentName: agent_name,
    instance,
    outcome: {
      status: row.status,
      appliedKeys: row.applied_keys,
      deferredKeys: row.deferred_keys,
      error: row.error,
      errorCode: row.error_code,
      trigger: row.trigger,
      at: row.at,
    },
  }));
}

/** Deletes processes without a reload for this long: most have ended, and their successors have other names. */
export async function deleteOldReloads(db: Db, keptMs: number): Promise<void> {
  await sql`delete from config_reloads where at < svc_now() - ${msInterval(keptMs)}`.execute(db);
}
