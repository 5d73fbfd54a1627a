import { formatSlug, type RepoRef } from '@pipeline/domain';
import type { Client } from '../client.ts';
import { answered, HostError } from '../errors.ts';
import { byId } from '../repo-address.ts';

/** A token with less time left is replaced: a request that is in flight when its token expires fails. */
const MIN_LIFETIME_MS = 5 * 60_000;

interface CachedToken {
  token: Promise<string>;
  /** Resolved `token`; null while the request is in flight. */
  value: string | null;
  /** ms since the epoch; a token in flight counts as valid. */
  validUntil: number;
}

/** Identifies a repo's installation; null = not looked up yet. */
export interface RepoInstallation {
  repo: RepoRef;
  id: Promise<number> | null;
}

/**
 * Tokens of the installations of a GitHub App. Repos of one installation share a token, which is replaced 5 minutes
 * before it expires; concurrent callers share one request.
 */
export class InstallationTokens {
  readonly #client: Client;
  readonly #now: () => Date;
  readonly #cached = new Map<number, CachedToken>();

  /** @param client signs its requests as the app. */
  constructor(client: Client, now: () => Date) {
    this.#client = client;
    this.#now = now;
  }

  /**
   * Returns a token for a repo. Looks its installation up again when the stored one no longer exists.
   * @throws HostError `no-access` when the app is not installed on the repo; RequestError for other responses.
   */
  async tokenFor(target: RepoInstallation): Promise<string> {
    const wasKnown = target.id !== null;
    try {
      return await this.#token(await this.#installationOf(target));
    } catch (error) {
      if (!wasKnown || !answered(error, 404)) throw error;
    }
    target.id = null;
    return this.#token(await this.#installationOf(target));
  }

  /** Removes a token that the host rejected, and the installation that it was for. */
  async discard(target: RepoInstallation, token: string): Promise<void> {
    const id = await target.id?.catch(() => null);
    target.id = null;
    if (id && this.#cached.get(id)?.value === token) this.#cached.delete(id);
  }

  #installationOf(target: RepoInstallation): Promise<number> {
    target.id ??= this.#findInstallation(target.repo).catch((error: unknown) => {
      target.id = null;
      throw error;
    });
    return target.id;
  }

  async #findInstallation(repo: RepoRef): Promise<number> {
    try {
      return (await readInstallation(this.#client, repo)).data.id;
    } catch (error) {
      if (!answered(error, 404)) throw error;
      const message = `the GitHub App is not installed on ${formatSlug(repo)}: install it there or add the repository to its installation`;
      throw new HostError('no-access', message, { httpStatus: 404, cause: error });
    }
  }

  #token(id: number): Promise<string> {
    const cached = this.#cached.get(id);
    if (cached && cached.validUntil > this.#now().getTime()) return cached.token;
    const entry: CachedToken = {
      value: null,
      validUntil: Number.POSITIVE_INFINITY,
      token: this.#create(id, () => entry),
    };
    this.#cached.set(id, entry);
    return entry.token;
  }

  async #create(id: number, entryOf: () => CachedToken): Promise<string> {
    try {
      const { data } = await this.#client.rest.apps.createInstallationAccessToken({ installation_id: id });
      const validUntil = Date.parse(data.expires_at) - MIN_LIFETIME_MS;
      Object.assign(entryOf(), { value: data.token, validUntil });
      return data.token;
    } catch (error) {
      if (this.#cached.get(id) === entryOf()) this.#cached.delete(id);
      throw error;
    }
  }
}

/**
 * Reads the installation of an app on a repository. The authentication of an app recognizes this request by its usual
 * path, so the id is put into the address as the last step.
 */
export function readInstallation(client: Client, repo: RepoRef) {
  const { owner, name, hostId } = repo;
  const params = { owner, repo: name };
  if (hostId == null) return client.rest.apps.getRepoInstallation(params);
  const { fetch: send = fetch } = client.request.endpoint.DEFAULTS.request as { fetch?: typeof fetch };
  const sendById: typeof fetch = (url, init) => send(byId(String(url), hostId), init);
  return client.rest.apps.getRepoInstallation({ ...params, request: { fetch: sendById } });
}
