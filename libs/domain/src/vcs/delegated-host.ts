import { slugKey } from '../slugs.ts';
import type { RepoRef, VcsHost } from './host.ts';

/** Chooses what carries out a call that is about a repository, and how it names the repository. */
type Route = (repo: RepoRef) => { host: VcsHost; repo: RepoRef };

/** A host whose calls about repositories are carried out elsewhere. */
export function delegatedHost(
  { clientType, login, isPerson }: Pick<VcsHost, 'clientType' | 'login' | 'isPerson'>,
  route: Route,
): VcsHost {
  const to =
    <A extends unknown[], R>(call: (host: VcsHost) => (repo: RepoRef, ...rest: A) => R) =>
    (about: RepoRef, ...rest: A): R => {
      const { host, repo } = route(about);
      return call(host)(repo, ...rest);
    };
  return {
    clientType,
    login,
    isPerson,
    getRepo: to((host) => host.getRepo),
    listIssues: to((host) => host.listIssues),
    getIssue: to((host) => host.getIssue),
    historyOf: to((host) => host.historyOf),
    standingOf: to((host) => host.standingOf),
    listComments: to((host) => host.listComments),
    getPullRequest: to((host) => host.getPullRequest),
    findPullRequests: to((host) => host.findPullRequests),
    listReviews: to((host) => host.listReviews),
    permissionOf: to((host) => host.permissionOf),
    pushProtectionOf: to((host) => host.pushProtectionOf),
    checksOf: to((host) => host.checksOf),
    mergeRulesOf: to((host) => host.mergeRulesOf),
    isBehind: to((host) => host.isBehind),
    logTailOf: to((host) => host.logTailOf),
    createLabels: to((host) => host.createLabels),
    react: to((host) => host.react),
    execute: to((host) => host.execute),
  };
}

/**
 * A host that addresses one repository by its id, when that is known, wherever the repository is named without an id.
 * Other repositories, and this one with an id of null, are addressed as given.
 */
export function hostBoundTo(host: VcsHost, own: RepoRef): VcsHost {
  if (own.hostId == null) return host;
  const key = slugKey(own);
  return delegatedHost(host, (repo) => ({
    host,
    repo: repo.hostId === undefined && slugKey(repo) === key ? own : repo,
  }));
}
