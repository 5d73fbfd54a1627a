import { AppError, type RepoAccessIssuer } from '@pipeline/domain';
import type { IssuerOf } from '@pipeline/engine';
import { type Logger, requireAppKey, StartError } from '@pipeline/runtime';
import { HostError } from '@pipeline/vcs';
import type { GitHubAppOptions } from '@pipeline/vcs/github';

interface AppVariables {
  /** Begins the names of its variables. */
  kind: 'github' | 'sandbox';
  apiUrl: string | undefined;
  id: string | undefined;
  key: string | undefined;
}

/**
 * The apps that this process has keys for, as issuers of git credentials. A plain token is never handed out: it would
 * reach every repo of its owner, and no one could take it back from a worker.
 * @throws StartError for half of a pair.
 */
export function gitIssuers(apps: readonly AppVariables[], { log, now }: { log: Logger; now: () => Date }): IssuerOf {
  const issuers = apps.flatMap(({ kind, apiUrl, id, key }) => {
    const name = kind.toUpperCase();
    const app = requireAppKey(name, id, key);
    if (!app) return [];
    if (apiUrl === undefined) throw new StartError(`${name}_URL: must be set when ${name}_APP_ID is set`);
    const options = { baseUrl: apiUrl, ...app, clientType: kind, userAgent: 'pipeline-hosted-api' };
    return [{ kind, issuer: issuerOnFirstUse({ ...options, log, now }) }];
  });
  return ({ vcs_host }) => issuers.find(({ kind }) => kind === vcs_host)?.issuer ?? null;
}

/** The client of the host is loaded by the first request for credentials. */
function issuerOnFirstUse(options: GitHubAppOptions): RepoAccessIssuer {
  let loading: Promise<RepoAccessIssuer> | undefined;
  const load = async () => {
    const { createGitHubApp } = await import('@pipeline/vcs/github');
    return createGitHubApp(options);
  };
  return {
    accessTo: async (request) => {
      loading ??= load();
      return (await loading).accessTo(request);
    },
  };
}

/** Throws the error for a worker that stands for a refusal of the host. */
export function throwHostRefusal(error: unknown): never {
  if (!(error instanceof HostError)) throw error;
  const detail = { host: error.message, httpStatus: error.httpStatus };
  const context = { detail, cause: error };
  if (error.kind === 'unavailable' || error.kind === 'rate-limited') {
    throw new AppError('HOST_UNAVAILABLE', 'The host cannot issue credentials now; retry later', context);
  }
  throw new AppError('CREDENTIALS_UNAVAILABLE', `${REFUSED[error.kind]}: contact an operator`, context);
}

const REFUSED = {
  'not-found': 'The app is not installed on this repository',
  'no-access': 'The installation of the app on this repository is suspended',
  unauthorized: 'The host does not accept the id and key of the app',
  refused: 'The installation of the app lacks a right that this type of task needs',
} as const;
