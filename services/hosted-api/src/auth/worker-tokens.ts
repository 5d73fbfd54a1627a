import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TaskType } from '@pipeline/domain';
import { hashToken } from '@pipeline/engine';
import { AnswerError, type Authenticate, type Identity } from '@pipeline/http';
import { findWorkerScope, recordTokenUse, type Store, type WorkerScope } from '@pipeline/store';
import { LRUCache } from 'lru-cache';

/** A worker token: its id, whose it is, the repos it reaches and the types of tasks it may claim (null = all). */
export interface WorkerIdentity extends Identity {
  readonly tenantId: number;
  readonly repoIds: readonly number[] | null;
  readonly taskTypes: readonly TaskType[] | null;
  /** A secret that only this token and this key give. */
  secretOf(key: string): string;
}

export type WorkerAuth = { worker: Authenticate<WorkerIdentity> };

/** A revoked token works for at most this long after its revocation. */
const TOKEN_CACHE_MS = 2_000;
const CACHED_TOKENS = 10_000;

const WORKER_TOKEN = /^wrk_at_[\w-]{16,256}$/;

const required = (message: string) => new AnswerError('AUTH_REQUIRED', message, { 'www-authenticate': 'Bearer' });
const failed = (message: string) =>
  new AnswerError('AUTH_FAILED', message, { 'www-authenticate': 'Bearer error="invalid_token"' });

/**
 * Makes the check of worker tokens. A token is looked up by its SHA-256, so no secret is ever compared;
 * what was found, or that nothing was, is kept for two seconds: at most one statement per token and two seconds. Once a
 * minute its use is recorded, beside the request and not before it; a record that fails is tried at the next look-up.
 */
export function workerAuthenticator(store: Store, now: () => Date): Authenticate<WorkerIdentity> {
  const scopes = new LRUCache<string, { scope: WorkerScope | null }>({
    max: CACHED_TOKENS,
    ttl: TOKEN_CACHE_MS,
    ttlResolution: 0,
    perf: { now: () => now().getTime() },
    fetchMethod: async (hash) => {
      const scope = await findWorkerScope(store.db, hash);
      if (scope && !scope.isUseRecorded) recordTokenUse(store.db, scope.tokenId).catch(() => undefined);
      return { scope };
    },
  });
  return async (request) => {
    const token = bearerToken(request);
    const found = await scopes.forceFetch(hashToken(token));
    if (!found.scope) throw failed('The worker token is unknown, revoked or expired');
    const { tokenId, tenantId, repoIds, taskTypes } = found.scope;
    const secretOf = (key: string) => createHmac('sha256', token).update(key).digest('base64url');
    return { key: tokenId, tenantId, repoIds, taskTypes, secretOf };
  };
}

/** @throws AnswerError AUTH_REQUIRED, AUTH_FAILED. */
function bearerToken({ headers: { authorization } }: IncomingMessage): string {
  if (authorization === undefined) throw required('A worker token is required: Authorization: Bearer wrk_at_…');
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (token === undefined) throw required('The Authorization header must be: Bearer wrk_at_…');
  if (!WORKER_TOKEN.test(token)) throw failed('This is no worker token: those begin with wrk_at_');
  return token;
}
