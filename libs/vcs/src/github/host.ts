import type { ExecuteContext, VcsHost } from '@pipeline/domain';
import { type ClientOptions, createClient, fetchOf } from './client.ts';
import { told } from './errors.ts';
import { execute } from './execute.ts';
import { createPermissions } from './permissions.ts';
import { createReads } from './reads.ts';
import type { RequestOptions } from './target.ts';

interface GitHubHostOptions extends ClientOptions {
  /** The writing identity, for credentials that cannot ask `GET /user` (an app installation: `name[bot]`). */
  login?: string;
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
  let known = options.login;

  const login = async () => {
    known ??= (await client.rest.users.getAuthenticated()).data.login;
    return known;
  };

  return {
    clientType: options.clientType,
    ...createReads(client, now),
    login: () => told(login(), now),
    permissionOf: (repo, person) => told(permissionOf(repo, person), now),
    execute: (repo, issueNumber, action, context) => {
      const at = { owner: repo.owner, repo: repo.name, request: requestOf(context, send) };
      return execute({ client, repo, issueNumber, at, login, context }, action, now);
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
