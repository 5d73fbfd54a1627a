import { hostBoundTo, hostOnFirstUse, type VcsHost, withoutTrailing } from '@pipeline/domain';
import type { HostOf } from '@pipeline/engine';
import type { AppKey, Logger } from '@pipeline/runtime';
import { refOf } from '@pipeline/store';
import { spendingFetch, type WriteBudget } from './write-budget.ts';

/** Rate limit of a host, as its responses report it. */
interface HostRate {
  /** Requests that are left in the host's window; null = it has not reported any. */
  readonly remaining: number | null;
  /** Minutes, rounded up, until it listens again; 0 = it does. */
  limitedMinutes(): number;
}

const UNTOLD_MS = 60_000;
const MINUTE_MS = 60_000;

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

/** Reads the rate limit off the answers that pass by; it asks nothing itself. */
export class RateReading implements HostRate {
  readonly #now: () => Date;
  #remaining: number | null = null;
  #limitedUntil = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  get remaining(): number | null {
    return this.#remaining;
  }

  limitedMinutes(): number {
    return Math.max(0, Math.ceil((this.#limitedUntil - this.#now().getTime()) / MINUTE_MS));
  }

  /** The same fetch, its answers looked at. */
  watching(send: typeof fetch): typeof fetch {
    return async (input, init) => {
      const response = await send(input, init);
      this.#note(response);
      return response;
    };
  }

  #note({ status, headers }: Response): void {
    const left = Number(headers.get('x-ratelimit-remaining') ?? Number.NaN);
    // Searches have a limit of their own.
    const isCore = (headers.get('x-ratelimit-resource') ?? 'core') === 'core';
    if (isCore && Number.isInteger(left)) this.#remaining = left;
    if (status !== 403 && status !== 429) {
      if (status < 400) this.#limitedUntil = 0;
      return;
    }
    const now = this.#now().getTime();
    const after = Number(headers.get('retry-after') ?? Number.NaN);
    const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
    if (Number.isFinite(after)) this.#limitedUntil = now + after * 1_000;
    else if (left === 0 && Number.isFinite(reset)) this.#limitedUntil = reset * 1_000;
    else if (status === 429) this.#limitedUntil = now + UNTOLD_MS;
  }
}
