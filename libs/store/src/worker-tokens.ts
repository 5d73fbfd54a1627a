import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { Db } from './connection.ts';
import { fleetNote, svcNow } from './json.ts';

/** Whose a worker token is, and which repos it may work for; null = all of the tenant. */
export interface WorkerScope {
  tokenId: string;
  tenantId: number;
  repoIds: number[] | null;
}

export async function insertWorkerToken(
  db: Db,
  token: { tenantId: number; name: string; tokenHash: string; repoIds: number[] | null },
): Promise<string> {
  const id = uuidv7();
  await db
    .insertInto('worker_tokens')
    .values({ id, tenant_id: token.tenantId, name: token.name, token_hash: token.tokenHash, repo_ids: token.repoIds })
    .onConflict((c) => c.column('token_hash').doNothing())
    .execute();
  return id;
}

export async function findWorkerScope(db: Db, tokenHash: string): Promise<WorkerScope | null> {
  const row = await db
    .selectFrom('worker_tokens')
    .select(['id', 'tenant_id', 'repo_ids'])
    .where('token_hash', '=', tokenHash)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row ? { tokenId: row.id, tenantId: row.tenant_id, repoIds: row.repo_ids } : null;
}

export async function revokeWorkerToken(db: Db, id: string): Promise<boolean> {
  const row = await db
    .updateTable('worker_tokens')
    .set({ revoked_at: svcNow })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** True while the token exists and nobody has revoked it. */
export async function isLiveToken(db: Db, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('worker_tokens')
    .select('id')
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Revokes all live tokens of a tenant that have that name. @returns how many. */
export async function revokeWorkerTokensNamed(db: Db, tenantId: number, name: string): Promise<number> {
  const result = await db
    .updateTable('worker_tokens')
    .set({ revoked_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

export interface WorkerTokenSummary {
  id: string;
  org: string;
  name: string;
  /** Slugs; null = all of the organisation. */
  repos: string[] | null;
  created_at: string;
  revoked_at: string | null;
}

/** Tokens of a tenant, or all, the newest first; never the tokens themselves, which are kept nowhere. */
export async function listWorkerTokens(fleet: Db, tenantId: number | null): Promise<WorkerTokenSummary[]> {
  const { rows } = await sql<WorkerTokenSummary>`
    ${fleetNote('who administers the deployment sees all of it')}
    select w.id, t.external_id as org, w.name, w.created_at, w.revoked_at, case when w.repo_ids is not null then coalesce((
      select array_agg(r.owner || '/' || r.name order by r.slug_key) from repos r
      where r.tenant_id = w.tenant_id and r.id = any(w.repo_ids)), '{}') end as repos
    from worker_tokens w join tenants t on t.id = w.tenant_id
    where ${tenantId}::bigint is null or w.tenant_id = ${tenantId}
    order by w.created_at desc, w.id`.execute(fleet);
  return rows;
}
