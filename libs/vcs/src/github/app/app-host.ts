import { createAppAuth } from '@octokit/auth-app';
import {
  delegatedHost,
  type HostRepo,
  type RepoAccess,
  type RepoAccessIssuer,
  type RepoAccessRequest,
  type RepoRef,
  type VcsHost,
} from '@pipeline/domain';
import { LRUCache } from 'lru-cache';
import { type ClientOptions, createClient } from '../client.ts';
import { HostError, withHostErrors } from '../errors.ts';
import { createGitHubHost } from '../host.ts';
import { repoKey } from '../repo-address.ts';
import { installationAuth } from './installation-auth.ts';
import { InstallationTokens, readInstallation } from './installation-tokens.ts';

export interface GitHubAppOptions extends Omit<ClientOptions, 'token' | 'auth' | 'authStrategy'> {
  /** Id or client id of the app. */
  appId: string;
  /** PEM of its RSA key. */
  privateKey: string;
  now: () => Date;
}

/** A token that has less than this left is not handed out; the host's tokens live for an hour. */
const FRESH_MS = 50 * 60_000;

interface InstallationToken {
  token: string;
  expiresAt: string;
}

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
  let identity: ReturnType<typeof readIdentity> | null = null;
  const identityOf = () => {
    identity ??= withHostErrors(readIdentity(app), now).catch((error: unknown) => {
      identity = null;
      throw error;
    });
    return identity;
  };
  const loginOf = async () => (await identityOf()).login;
  const ownApp = async () => (await identityOf()).id;
  const hosts = new LRUCache<string, VcsHost>({ max: MAX_REPOS });
  const hostOf = (repo: RepoRef): VcsHost => {
    const known = hosts.get(repoKey(repo));
    if (known) return known;
    const auth = { tokens, target: { repo, id: null } };
    const host = createGitHubHost({ ...shared, now, login: loginOf, ownApp, authStrategy: installationAuth, auth });
    hosts.set(repoKey(repo), host);
    return host;
  };
  const getRepo = async (repo: RepoRef): Promise<HostRepo | null> => {
    const found = await orNull(hostOf(repo).getRepo(repo));
    if (found) return found;
    // It may have been transferred: into another installation than the known one.
    hosts.delete(repoKey(repo));
    return orNull(hostOf(repo).getRepo(repo));
  };
  const own = { clientType: options.clientType, login: loginOf, isPerson: async () => false };
  return { ...delegatedHost(own, (repo) => ({ host: hostOf(repo), repo })), getRepo };
}

async function readIdentity(app: ReturnType<typeof createClient>): Promise<{ id: number; login: string }> {
  const { data } = await app.rest.apps.getAuthenticated();
  if (data?.slug) return { id: data.id, login: `${data.slug}[bot]` };
  throw new HostError('refused', 'the host reported no name for the GitHub App');
}

async function orNull(reading: Promise<HostRepo | null>): Promise<HostRepo | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof HostError && error.kind === 'no-access') return null;
    throw error;
  }
}

/**
 * A GitHub App as the issuer of short-lived tokens, each for one repo. Equal requests within ten minutes get the same
 * token, so that frequent requests cost the host little. Throws HostError: `unauthorized` for a bad key, `not-found` where
 * the app is not installed, `refused` for rights that the installation lacks.
 */
export function createGitHubApp(options: GitHubAppOptions): RepoAccessIssuer {
  const { appId, privateKey, now, ...rest } = options;
  const client = createClient({ ...rest, authStrategy: createAppAuth, auth: { appId, privateKey } });

  const tokenOf = async (installationId: number, request: RepoAccessRequest): Promise<RepoAccess> => {
    const { repo, permissions } = request;
    const only = repo.hostId == null ? { repositoryNames: [repo.name] } : { repositoryIds: [repo.hostId] };
    const scope = { type: 'installation', installationId, ...only, permissions } as const;
    let made = (await client.auth(scope)) as InstallationToken;
    if (Date.parse(made.expiresAt) - now().getTime() < FRESH_MS) {
      made = (await client.auth({ ...scope, refresh: true })) as InstallationToken;
    }
    return { username: 'x-access-token', token: made.token, expiresAt: made.expiresAt, permissions };
  };

  const accessTo = async (request: RepoAccessRequest): Promise<RepoAccess> => {
    const { installationId, repo } = request;
    try {
      if (installationId !== null) return await withHostErrors(tokenOf(installationId, request), now);
    } catch (error) {
      if (!isOfOtherInstallation(error)) throw error;
    }
    const { data } = await readInstallation(client, repo);
    return tokenOf(data.id, request);
  };

  return { accessTo: (request) => withHostErrors(accessTo(request), now) };
}

/** The app may have been installed again, under another number; a transferred repository is in another installation. */
const isOfOtherInstallation = (error: unknown): boolean =>
  error instanceof HostError && (error.kind === 'not-found' || error.httpStatus === 422);
