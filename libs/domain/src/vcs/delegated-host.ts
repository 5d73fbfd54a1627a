import { slugKey } from '../slugs.ts';
import type { RepoRef, VcsHost } from './host.ts';

interface Target {
  host: VcsHost;
  repo: RepoRef;
}

/** Chooses what carries out a call that is about a repository, and how it names the repository. */
type Route = (repo: RepoRef) => Target | Promise<Target>;

/** A host whose calls about repositories are carried out elsewhere. */
export function delegatedHost(
  { clientType, login, isPerson }: Pick<VcsHost, 'clientType' | 'login' | 'isPerson'>,
  route: Route,
): VcsHost {
  const to =
    <A extends unknown[], R>(call: (host: VcsHost) => (repo: RepoRef, ...rest: A) => Promise<R>) =>
    async (about: RepoRef, ...rest: A): Promise<R> => {
      const { host, repo } = await route(about);
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
    pushersOf: to((host) => host.pushersOf),
    hasCreatedBranch: to((host) => host.hasCreatedBranch),
    pushProtectionOf: to((host) => host.pushProtectionOf),
    checksOf: to((host) => host.checksOf),
    mergeRulesOf: to((host) => host.mergeRulesOf),
    isBehind: to((host) => host.isBehind),
    logTailOf: to((host) => host.logTailOf),
    rerunCheck: to((host) => host.rerunCheck),
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

/** A host whose client is loaded by the first call to it. */
export function hostOnFirstUse(clientType: VcsHost['clientType'], load: () => Promise<VcsHost>): VcsHost {
  let loading: Promise<VcsHost> | undefined;
  const loaded = (): Promise<VcsHost> => {
    loading ??= load();
    return loading;
  };
  const identity = {
    clientType,
    login: async () => (await loaded()).login(),
    isPerson: async () => (await loaded()).isPerson(),
  };
  return delegatedHost(identity, async (repo) => ({ host: await loaded(), repo }));
}
