import type { ExecuteContext, RepoRef, VcsHost } from '@pipeline/domain';
import { LRUCache } from 'lru-cache';
import { type Client, type ClientOptions, createClient, fetchOf } from './client.ts';
import { answered, withHostErrors } from './errors.ts';
import { execute } from './execute.ts';
import { createReads } from './reads.ts';
import { paramsOf, repoKey } from './repo-address.ts';
import type { RequestOptions } from './target.ts';

interface GitHubHostOptions extends ClientOptions {
  /** Returns the login that writes, for credentials that cannot read `GET /user` (an app installation: `name[bot]`). */
  login?: () => Promise<string>;
  /** Reads the id of the app whose credentials these are; absent = a token of a user. */
  ownApp?: () => Promise<number>;
  now: () => Date;
}

/**
 * The version-control host behind GitHub's REST API, the sandbox host included. Reads throw HostError; `execute`
 * answers with what happened and never throws.
 */
export function createGitHubHost(options: GitHubHostOptions): VcsHost {
  const { now } = options;
  const client = createClient(options);
  const permissionOf = createPermissions(client, now);
  const send = fetchOf(options);
  const keptComments = new LRUCache<string, number>({ max: MAX_ENTRIES });
  let known: { login: string; isPerson: boolean } | undefined;

  const identity = async () => {
    if (options.login) return { login: await options.login(), isPerson: false };
    if (!known) {
      const { data } = await client.rest.users.getAuthenticated();
      known = { login: data.login, isPerson: data.type === 'User' };
    }
    return known;
  };
  const login = async () => (await identity()).login;

  return {
    clientType: options.clientType,
    ...createReads(client, now, options.ownApp),
    login: () => withHostErrors(login(), now),
    isPerson: async () => (await withHostErrors(identity(), now)).isPerson,
    permissionOf: (repo, person, isNow) => withHostErrors(permissionOf(repo, person, isNow), now),
    execute: (repo, issueNumber, action, context) => {
      const at = { ...paramsOf(repo), request: requestOf(context, send) };
      return execute({ client, repo, issueNumber, at, login, context, keptComments }, action, now);
    },
  };
}

/**
 * Options of every request of one action. The check stands in front of the socket itself, behind every wait of the
 * client: a process that was frozen before it sent a write must not send it afterwards.
 */
function requestOf({ signal, mayWrite }: ExecuteContext, send: typeof fetch): RequestOptions {
  const guarded: typeof fetch = (url, init) => {
    const isRead = ['GET', 'HEAD'].includes((init?.method ?? 'GET').toUpperCase());
    if (!isRead && mayWrite?.() === false) {
      return Promise.reject(new DOMException('this process may not write to the host any more', 'AbortError'));
    }
    return send(url, init);
  };
  return { ...(signal && { signal }), ...(mayWrite && { fetch: guarded }) };
}

type Permission = 'admin' | 'write' | 'read' | 'none';

const KEPT_MS = 5 * 60_000;
const MAX_ENTRIES = 10_000;

/**
 * Asks the host for a person's right and keeps the answer for 5 minutes; a kept one is not used when it is asked now.
 * @returns a reader; who is no collaborator or does not exist has the right `none`.
 */
function createPermissions(client: Client, now: () => Date) {
  const kept = new Map<string, { permission: Permission; until: number }>();

  return async (repo: RepoRef, login: string, isNow = false): Promise<Permission> => {
    const key = `${repoKey(repo)}@${login.toLowerCase()}`;
    const known = kept.get(key);
    if (!isNow && known && known.until > now().getTime()) return known.permission;
    const permission = await ask(client, repo, login);
    kept.delete(key);
    // Insertion order is age, so the first key is the oldest.
    const oldest = kept.size >= MAX_ENTRIES ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    kept.set(key, { permission, until: now().getTime() + KEPT_MS });
    return permission;
  };
}

async function ask(client: Client, repo: RepoRef, username: string): Promise<Permission> {
  try {
    const params = { ...paramsOf(repo), username };
    const { permission } = (await client.rest.repos.getCollaboratorPermissionLevel(params)).data;
    return permission === 'admin' || permission === 'write' || permission === 'read' ? permission : 'none';
  } catch (error) {
    if (answered(error, 404)) return 'none';
    throw error;
  }
}
