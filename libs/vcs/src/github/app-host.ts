import { createAppAuth } from '@octokit/auth-app';
import { type RepoRef, slugKey, type VcsHost } from '@pipeline/domain';
import { LRUCache } from 'lru-cache';
import type { GitHubAppOptions } from './app.ts';
import { createClient } from './client.ts';
import { HostError, withHostErrors } from './errors.ts';
import { createGitHubHost } from './host.ts';
import { installationAuth } from './installation-auth.ts';
import { InstallationTokens } from './installation-tokens.ts';

/** Bound on the clients in memory: texts of strangers name repos too. An evicted client is created again. */
const MAX_REPOS = 2_000;

export interface GitHubAppHostOptions extends GitHubAppOptions {
  /** Sends the requests of the app itself, which are outside the installations' rate limits; default `fetch`. */
  appFetch?: typeof fetch;
}

/**
 * The version-control host, accessed as a GitHub App: each repo with a token of the installation on it. Reads of a repo
 * without an active installation throw HostError `no-access`; `getRepo` returns null.
 */
export function createGitHubAppHost(options: GitHubAppHostOptions): VcsHost {
  const { appId, privateKey, appFetch = options.fetch, now, ...shared } = options;
  const app = createClient({
    ...shared,
    ...(appFetch && { fetch: appFetch }),
    authStrategy: createAppAuth,
    auth: { appId, privateKey },
  });
  const tokens = new InstallationTokens(app, now);
  let login: Promise<string> | null = null;
  const loginOf = (): Promise<string> => {
    login ??= withHostErrors(readLogin(app), now).catch((error: unknown) => {
      login = null;
      throw error;
    });
    return login;
  };
  const hosts = new LRUCache<string, VcsHost>({ max: MAX_REPOS });
  const hostOf = (repo: RepoRef): VcsHost => {
    const known = hosts.get(slugKey(repo));
    if (known) return known;
    const auth = { tokens, target: { repo, id: null } };
    const host = createGitHubHost({ ...shared, now, login: loginOf, authStrategy: installationAuth, auth });
    hosts.set(slugKey(repo), host);
    return host;
  };
  return delegate(options.clientType, loginOf, hostOf);
}

async function readLogin(app: ReturnType<typeof createClient>): Promise<string> {
  const { data } = await app.rest.apps.getAuthenticated();
  if (data?.slug) return `${data.slug}[bot]`;
  throw new HostError('refused', 'the host reported no name for the GitHub App');
}

/** Every method of the port takes the repo first. */
function delegate(
  clientType: VcsHost['clientType'],
  login: VcsHost['login'],
  hostOf: (repo: RepoRef) => VcsHost,
): VcsHost {
  return {
    clientType,
    login,
    isPerson: async () => false,
    getRepo: async (repo) => {
      try {
        return await hostOf(repo).getRepo(repo);
      } catch (error) {
        if (error instanceof HostError && error.kind === 'no-access') return null;
        throw error;
      }
    },
    listIssues: (repo, query) => hostOf(repo).listIssues(repo, query),
    getIssue: (repo, number) => hostOf(repo).getIssue(repo, number),
    historyOf: (repo, number) => hostOf(repo).historyOf(repo, number),
    standingOf: (repo, number, etag) => hostOf(repo).standingOf(repo, number, etag),
    listComments: (repo, number, since) => hostOf(repo).listComments(repo, number, since),
    getPullRequest: (repo, number) => hostOf(repo).getPullRequest(repo, number),
    findPullRequests: (repo, branch) => hostOf(repo).findPullRequests(repo, branch),
    listReviews: (repo, number) => hostOf(repo).listReviews(repo, number),
    permissionOf: (repo, person) => hostOf(repo).permissionOf(repo, person),
    pushProtectionOf: (repo, branch) => hostOf(repo).pushProtectionOf(repo, branch),
    checksOf: (repo, sha) => hostOf(repo).checksOf(repo, sha),
    mergeRulesOf: (repo, branch) => hostOf(repo).mergeRulesOf(repo, branch),
    isBehind: (repo, branch, sha) => hostOf(repo).isBehind(repo, branch, sha),
    logTailOf: (repo, check) => hostOf(repo).logTailOf(repo, check),
    createLabels: (repo, descriptions) => hostOf(repo).createLabels(repo, descriptions),
    react: (repo, commentId, content) => hostOf(repo).react(repo, commentId, content),
    execute: (repo, number, action, context) => hostOf(repo).execute(repo, number, action, context),
  };
}
