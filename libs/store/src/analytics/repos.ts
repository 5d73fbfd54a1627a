import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import type { AnalyticsScope } from './scope.ts';

/** Repos within a scope, including disabled ones: their past costs count. */
export async function repoNames(
  fleet: Db,
  { tenantId, repoId }: AnalyticsScope,
): Promise<{ id: number; slug: string; tenant: string }[]> {
  const { rows } = await sql<{ id: number; slug: string; tenant: string }>`
    ${fleetNote('operators see all tenants')}
    select r.id, r.owner || '/' || r.name as slug, t.external_id as tenant
    from repos r join tenants t on t.id = r.tenant_id
    where (${tenantId}::bigint is null or r.tenant_id = ${tenantId}) and (${repoId}::bigint is null or r.id = ${repoId})`.execute(
    fleet,
  );
  return rows;
}
