import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { connectionLives } from './connections.ts';

/** A user's connection with a client program, as operators see it. */
interface ConnectionSummary {
  id: string;
  org: string;
  email: string;
  client_name: string;
  client_id: string;
  created_at: string;
  last_used_at: string | null;
  expires_at: string;
  revoked_at: string | null;
  revoked_reason: string | null;
  /** Whether it can be used now. */
  live: boolean;
}

/** Connections of an organisation, a user, or all, newest first. */
export async function listConnections(
  db: Db,
  scope: { tenantId: number | null; userId: number | null; limit: number },
): Promise<ConnectionSummary[]> {
  const { rows } = await sql<ConnectionSummary>`
    ${fleetNote('who administers the deployment sees all of it')}
    select c.id, t.external_id as org, u.email, c.client_name, c.client_id, c.created_at, c.last_used_at, c.expires_at,
      c.revoked_at, c.revoked_reason, ${connectionLives} as live
    from oauth_connections c join users u on u.id = c.user_id join tenants t on t.id = c.tenant_id
    where (${scope.tenantId}::bigint is null or c.tenant_id = ${scope.tenantId})
      and (${scope.userId}::bigint is null or c.user_id = ${scope.userId})
    order by c.created_at desc, c.id
    limit ${scope.limit}`.execute(db);
  return rows;
}
