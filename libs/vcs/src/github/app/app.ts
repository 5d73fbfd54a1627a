import { createAppAuth } from '@octokit/auth-app';
import type { RepoAccess, RepoAccessIssuer, RepoAccessRequest } from '@pipeline/domain';
import { type ClientOptions, createClient } from '../client.ts';
import { HostError, withHostErrors } from '../errors.ts';
import { readInstallation } from './installation-tokens.ts';

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
