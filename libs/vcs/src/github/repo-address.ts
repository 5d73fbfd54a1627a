import type { Octokit } from '@octokit/core';
import { type RepoRef, slugKey } from '@pipeline/domain';

/** Name of the parameter with the id; the host has none of that name, and `addressById` takes it out of each request. */
const BY_ID = 'address_by_id';

/** Parameters that name a repository in a request. */
export const paramsOf = ({ owner, name, hostId }: RepoRef) => ({
  owner,
  repo: name,
  ...(hostId != null && { [BY_ID]: hostId }),
});

/** Identifies a repository among those of a host. */
export const repoKey = (repo: RepoRef): string => (repo.hostId == null ? slugKey(repo) : `#${repo.hostId}`);

/**
 * Octokit plugin: sends requests with the id of a repository to `/repositories/<id>/...`, the address that the host
 * itself redirects to and paginates with. Must be the first plugin: the others know endpoints by their usual paths.
 */
export function addressById(octokit: Octokit) {
  octokit.hook.before('request', (options) => {
    const { [BY_ID]: id, ...rest } = options as typeof options & Record<string, unknown>;
    if (typeof id === 'number') {
      options.url = byId(options.url, id);
      if (rest.url !== options.url)
        for (const name of ['owner', 'repo']) delete (options as Record<string, unknown>)[name];
      delete (options as Record<string, unknown>)[BY_ID];
    } else options.url = expandedById(options.url);
  });
}

const REPO_PATH = /\/repos\/[^/?]+\/[^/?]+/;
/** The address of a request with the id of a repository in place of its name. */
export const byId = (url: string, id: number): string => url.replace(REPO_PATH, `/repositories/${id}`);

/** Pagination expands the parameters of its first request beforehand: the id is in its query. */
function expandedById(url: string): string {
  const [, id] = new RegExp(`[?&]${BY_ID}=(\\d+)`).exec(url) ?? [];
  if (id === undefined) return url;
  const address = new URL(url);
  address.searchParams.delete(BY_ID);
  return byId(address.href, Number(id));
}
