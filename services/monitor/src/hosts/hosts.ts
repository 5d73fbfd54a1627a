import { hostBoundTo, hostOnFirstUse, type VcsHost, withoutTrailing } from '@pipeline/domain';
import type { HostOf } from '@pipeline/engine';
import type { AppKey, Logger } from '@pipeline/runtime';
import { refOf } from '@pipeline/store';
import { type HostRate, RateReading } from './host-rate.ts';
import { spendingFetch, type WriteBudget } from './write-budget.ts';

export type HostKind = VcsHost['clientType'];

/** Root of the REST API, with the key of an app or a token. */
export type HostAccess = { apiUrl: string } & (AppKey | { token: string });

export interface ConnectedHost {
  kind: HostKind;
  vcs: VcsHost;
  /** null = the host asks for no restraint. */
  budget: WriteBudget | null;
  rate: HostRate;
  /** Returns the URL from which a repo can be cloned when the host does not answer. */
  cloneUrl(slug: { owner: string; name: string }): string;
}

interface ConnectOptions {
  /** Hosts that this process has credentials for. */
  access: Partial<Record<HostKind, HostAccess>>;
  /** Budget of the public host; a sandbox has none. */
  budget: WriteBudget;
  userAgent: string;
  log: Logger;
  now: () => Date;
}

/** The hosts that this process can speak to: one adapter for each kind, the public host first. */
export function connectHosts({ access, budget, userAgent, log, now }: ConnectOptions): ConnectedHost[] {
  const kinds = ['github', 'sandbox'] as const satisfies HostKind[];
  return kinds.flatMap((kind) => {
    const way = access[kind];
    if (!way) return [];
    const own = kind === 'github' ? budget : null;
    const rate = new RateReading(now);
    const { apiUrl, ...credentials } = way;
    const send = rate.watching(own ? spendingFetch(own) : fetch);
    const options = { baseUrl: apiUrl, clientType: kind, userAgent, log, now, fetch: send };
    // Octokit is a tenth of the program that is run at a start.
    const vcs = hostOnFirstUse(kind, async () => {
      const { createGitHubAppHost, createGitHubHost } = await import('@pipeline/vcs/github');
      return 'appId' in credentials
        ? createGitHubAppHost({ ...options, ...credentials, appFetch: fetch })
        : createGitHubHost({ ...options, ...credentials });
    });
    const web = webUrl(apiUrl);
    return [{ kind, vcs, rate, budget: own, cloneUrl: ({ owner, name }) => `${web}/${owner}/${name}.git` }];
  });
}

/** The host of a kind, for repos that the store does not have yet; null when this process has no credentials for it. */
export const hostOfKind =
  (hosts: readonly ConnectedHost[]) =>
  async (kind: string): Promise<VcsHost | null> =>
    hosts.find((host) => host.kind === kind)?.vcs ?? null;

/** The host of a repo, which it addresses by its id; null when this process has no credentials for its kind. */
export const hostFinder =
  (hosts: readonly ConnectedHost[]): HostOf =>
  (repo) => {
    const found = hosts.find(({ kind }) => kind === repo.vcs_host);
    return found ? hostBoundTo(found.vcs, refOf(repo)) : null;
  };

/** `https://api.github.com` -> `https://github.com`; `https://host/api/v3` -> `https://host`; others as they are. */
const webUrl = (apiUrl: string): string =>
  withoutTrailing(apiUrl, '/')
    .replace(/^https:\/\/api\.github\.com$/, 'https://github.com')
    .replace(/\/api\/v3$/, '');
