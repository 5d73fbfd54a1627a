import { sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';

const EXPIRING = ['oauth_tokens', 'oauth_artifacts', 'user_sessions', 'rate_limits'] as const;

/** Rows of a table per statement: short locks, and concurrent replicas share the work. */
const BATCH = 5_000;

export interface PruneAges {
  /** A client without any connection. */
  unusedClientMs: number;
  /** A connection that expired or was revoked; kept this long for later questions. */
  endedConnectionMs: number;
}

/**
 * Deletes unusable rows, one batch of each kind. A consumed refresh token is kept until it would have expired: before
 * that, its reuse must be detected.
 * @returns rows deleted by table, and whether a batch was full, so that there may be more.
 */
export async function pruneOauth(
  fleet: Db,
  ages: PruneAges,
): Promise<{ deleted: Record<string, number>; more: boolean }> {
  const deleted: Record<string, number> = {};
  for (const table of EXPIRING) {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ctid = any (array(
        select ctid from ${sql.table(table)} where expires_at <= svc_now() limit ${BATCH} for update skip locked
      ))`.execute(fleet);
    deleted[table] = Number(numAffectedRows);
  }
  const ended = await sql`
    delete from oauth_connections where id in (
      select id from oauth_connections
      where least(revoked_at, expires_at) < svc_now() - ${msInterval(ages.endedConnectionMs)}
      limit ${BATCH} for update skip locked
    )`.execute(fleet);
  deleted.oauth_connections = Number(ended.numAffectedRows);
  const unused = await sql`
    delete from oauth_clients where id in (
      select k.id from oauth_clients k
      where k.created_at < svc_now() - ${msInterval(ages.unusedClientMs)}
        and not exists (select from oauth_connections c where c.client_id = k.id)
      limit ${BATCH} for update skip locked
    )`.execute(fleet);
  deleted.oauth_clients = Number(unused.numAffectedRows);
  return { deleted, more: Object.values(deleted).some((count) => count === BATCH) };
}
