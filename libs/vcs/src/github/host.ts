import type { VcsHost } from '@pipeline/domain';
import { type ClientOptions, createClient } from './client.ts';
import { told } from './errors.ts';
import { execute } from './execute.ts';
import { createPermissions } from './permissions.ts';
import { createReads } from './reads.ts';

export interface GitHubHostOptions extends ClientOptions {
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
      const request = context.signal ? { signal: context.signal } : {};
      const at = { owner: repo.owner, repo: repo.name, request };
      return execute({ client, repo, issueNumber, at, login, context }, action, now);
    },
  };
}
