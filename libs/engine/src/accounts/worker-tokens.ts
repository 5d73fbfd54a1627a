import { randomBytes } from 'node:crypto';
import { requireSlug, TASK_TYPES, type TaskType } from '@pipeline/domain';
import {
  insertWorkerToken,
  listWorkerTokens as readTokens,
  repoIdsOf,
  revokeWorkerToken as revokeById,
  revokeWorkerTokensNamed,
  storeTime,
} from '@pipeline/store';
import { validate as isUuid } from 'uuid';
import { type Admin, administer, audit, notFound, refuse } from '../context/admin.ts';
import { hashToken } from '../context/token-hash.ts';
import { requireExpiry } from './expiry.ts';
import { requireOrg } from './orgs.ts';

interface NewWorkerToken {
  org: string;
  name: string;
  /** Slugs of enabled repos; none = all of the organisation, including later ones. */
  repos: readonly string[];
  /** Types of tasks that it may claim; none = all. */
  taskTypes?: readonly string[];
  /** A duration from now (`30d`, `12h`) or an ISO 8601 date or time with its zone; null = it never expires. */
  expires: string | null;
}

/**
 * Creates a worker token. It is returned here only: the store has its SHA-256.
 * @throws AppError NOT_FOUND, INVALID_INPUT.
 */
export async function createWorkerToken(
  admin: Admin,
  { org: orgId, name, repos, taskTypes = [], expires }: NewWorkerToken,
) {
  const types = taskTypes.length === 0 ? null : taskTypes.map(requireTaskType);
  const token = `wrk_at_${randomBytes(32).toString('base64url')}`;
  return administer(admin, async (tx) => {
    const org = await requireOrg(tx, orgId);
    const expiresAt = expires === null ? null : requireExpiry(expires, await storeTime(tx));
    const repoIds: number[] = [];
    for (const repo of repos) {
      const [id] = await repoIdsOf(tx, org.id, [requireSlug(repo)]);
      repoIds.push(id ?? refuse(`${orgId} has no enabled repo ${repo}`));
    }
    const scope = { tenantId: org.id, name, repoIds: repos.length === 0 ? null : repoIds, taskTypes: types, expiresAt };
    const id = await insertWorkerToken(tx, { ...scope, tokenHash: hashToken(token) });
    const subject = `worker token ${name} of org ${orgId}`;
    await audit(tx, admin, {
      action: 'worker-token-create',
      subject,
      details: { id, repos, taskTypes: types, expiresAt },
    });
    return { id, token, org: orgId, name, repos: repos.length === 0 ? null : repos, taskTypes: types, expiresAt };
  });
}

const requireTaskType = (name: string): TaskType =>
  TASK_TYPES.find((type) => type === name) ?? refuse(`${name} is no task type; they are ${TASK_TYPES.join(', ')}`);

export async function listWorkerTokens({ engine }: Admin, orgId: string | null) {
  const tenantId = orgId === null ? null : (await requireOrg(engine.store.db, orgId)).id;
  const rows = await readTokens(engine.store.db, tenantId);
  return rows.map(({ id, org, name, repos, task_types, created_at, expires_at, last_used_at, revoked_at }) => ({
    id,
    org,
    name,
    repos,
    taskTypes: task_types,
    createdAt: created_at,
    expiresAt: expires_at,
    lastUsedAt: last_used_at,
    revokedAt: revoked_at,
  }));
}

/** Revokes one token; it ends within two seconds. @throws AppError NOT_FOUND. */
export function revokeWorkerToken(admin: Admin, id: string) {
  return administer(admin, async (tx) => {
    if (!isUuid(id) || !(await revokeById(tx, id)))
      notFound(`there is no live worker token ${id}; pipeline admin worker-token list shows all`);
    await audit(tx, admin, { action: 'worker-token-revoke', subject: `worker token ${id}` });
    return { revoked: 1 };
  });
}

/** Revokes all live tokens of that name. @throws AppError NOT_FOUND. */
export function revokeWorkerTokens(admin: Admin, { org: orgId, name }: { org: string; name: string }) {
  return administer(admin, async (tx) => {
    const org = await requireOrg(tx, orgId);
    const revoked = await revokeWorkerTokensNamed(tx, org.id, name);
    if (revoked === 0) notFound(`tenant "${orgId}" has no live worker token named "${name}"`);
    const subject = `worker token ${name} of org ${orgId}`;
    await audit(tx, admin, { action: 'worker-token-revoke', subject, details: { revoked } });
    return { revoked };
  });
}
