import type { TaskType } from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** Tenant of a worker token and the repos it may work for; null = all of the tenant. */
export interface WorkerScope {
  tokenId: string;
  tenantId: number;
  repoIds: number[] | null;
  /** Types of tasks that it may claim; null = all. */
  taskTypes: TaskType[] | null;
  /** True = its last use is on record for the current minute. */
  isUseRecorded: boolean;
}

interface NewWorkerToken {
  tenantId: number;
  name: string;
  tokenHash: string;
  repoIds: number[] | null;
  /** Types of tasks that it may claim; null and absent = all. */
  taskTypes?: TaskType[] | null;
  /** ISO 8601; it is refused from then on. Null = it never expires. */
  expiresAt?: string | null;
}

/** A usable token: neither revoked nor expired. */
const isLive = sql<boolean>`revoked_at is null and (expires_at is null or expires_at > svc_now())`;
const isUseRecorded = sql<boolean>`coalesce(last_used_at > svc_now() - interval '1 minute', false)`;

export async function insertWorkerToken(db: Db, token: NewWorkerToken): Promise<string> {
  const id = timeOrderedId();
  const { tenantId, name, tokenHash, repoIds, taskTypes = null, expiresAt = null } = token;
  const row = {
    id,
    tenant_id: tenantId,
    name,
    token_hash: tokenHash,
    repo_ids: repoIds,
    task_types: taskTypes,
    expires_at: expiresAt,
  };
  await db
    .insertInto('worker_tokens')
    .values(row)
    .onConflict((c) => c.column('token_hash').doNothing())
    .execute();
  return id;
}

export async function findWorkerScope(db: Db, tokenHash: string): Promise<WorkerScope | null> {
  const row = await db
    .selectFrom('worker_tokens')
    .select(['id', 'tenant_id', 'repo_ids', 'task_types', isUseRecorded.as('is_use_recorded')])
    .where('token_hash', '=', tokenHash)
    .where(isLive)
    .executeTakeFirst();
  if (!row) return null;
  return {
    tokenId: row.id,
    tenantId: row.tenant_id,
    repoIds: row.repo_ids,
    taskTypes: row.task_types,
    isUseRecorded: row.is_use_recorded,
  };
}

/** Records the use of a token; of several processes that record the same minute, one writes. */
export async function recordTokenUse(db: Db, id: string): Promise<void> {
  await db
    .updateTable('worker_tokens')
    .set({ last_used_at: svcNow })
    .where('id', '=', id)
    .where(sql<boolean>`not ${isUseRecorded}`)
    .execute();
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

/** True while the token exists and is neither revoked nor expired. */
export async function isLiveToken(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('worker_tokens').select('id').where('id', '=', id).where(isLive).executeTakeFirst();
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

interface WorkerTokenSummary {
  id: string;
  org: string;
  name: string;
  /** Slugs; null = all of the organisation. */
  repos: string[] | null;
  /** Null = all. */
  task_types: TaskType[] | null;
  created_at: string;
  /** Null = never. */
  expires_at: string | null;
  /** Time of its last use to the minute; null = not since this has been recorded. */
  last_used_at: string | null;
  revoked_at: string | null;
}

type TokenOfRepos = Omit<WorkerTokenSummary, 'repos'> & { tenant_id: number; repo_ids: number[] | null };

/** Tokens of a tenant, or all, newest first; never the tokens themselves, which are not stored. */
export async function listWorkerTokens(fleet: Db, tenantId: number | null): Promise<WorkerTokenSummary[]> {
  const { rows } = await sql<TokenOfRepos>`
    ${fleetNote('who administers the deployment sees all of it')}
    select w.id, w.tenant_id, t.external_id as org, w.name, w.created_at, w.expires_at, w.last_used_at, w.revoked_at, w.repo_ids, w.task_types
    from worker_tokens w join tenants t on t.id = w.tenant_id
    where ${tenantId}::bigint is null or w.tenant_id = ${tenantId}
    order by w.created_at desc, w.id`.execute(fleet);
  const slugs = await slugsByRepo(fleet, rows);
  return rows.map(({ tenant_id, repo_ids, ...token }) => ({
    ...token,
    repos: repo_ids === null ? null : repo_ids.flatMap((id) => slugs.get(`${tenant_id} ${id}`) ?? []).sort(byKey),
  }));
}

const byKey = (a: string, b: string) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1);

/** Slugs of the repos of these tokens, by tenant and id. */
async function slugsByRepo(fleet: Db, tokens: readonly TokenOfRepos[]): Promise<ReadonlyMap<string, string>> {
  const ids = tokens.flatMap((token) => token.repo_ids ?? []);
  if (ids.length === 0) return new Map();
  const rows = await fleet
    .selectFrom('repos')
    .modifyFront(fleetNote('who administers the deployment sees all of it'))
    .select(['tenant_id', 'id', 'owner', 'name'])
    .where('id', '=', sql<number>`any(${[...new Set(ids)]}::bigint[])`)
    .execute();
  return new Map(rows.map(({ tenant_id, id, owner, name }) => [`${tenant_id} ${id}`, `${owner}/${name}`]));
}
