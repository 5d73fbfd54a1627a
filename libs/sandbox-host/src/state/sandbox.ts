import { GLOBAL, type PullRecord, type RepoRecord, type Sandbox, type UserRecord } from './model.ts';

/** The host keeps whole seconds. */
export const timestamp = (sandbox: Pick<Sandbox, 'now'>): string =>
  sandbox
    .now()
    .toISOString()
    .replace(/\.\d{3}Z$/, 'Z');

/** Runs one change as one transaction and then starts sending the webhooks that it stored. */
export function change<T>(sandbox: Sandbox, work: () => T): T {
  const result = sandbox.state.transaction(work);
  sandbox.deliveries.kick();
  return result;
}

export const slugOf = ({ owner, name }: Pick<RepoRecord, 'owner' | 'name'>): string => `${owner}/${name}`.toLowerCase();

export function findRepo({ state }: Sandbox, owner: string, name: string): RepoRecord | undefined {
  const slug = slugOf({ owner, name });
  return state.list('repo', GLOBAL).find((repo) => slugOf(repo) === slug);
}

/** The repository that had this name before it was renamed or transferred; undefined when another one has the name. */
export function findMovedRepo(sandbox: Sandbox, owner: string, name: string): RepoRecord | undefined {
  if (findRepo(sandbox, owner, name)) return undefined;
  const slug = slugOf({ owner, name });
  return sandbox.state.list('repo', GLOBAL).find(({ formerSlugs = [] }) => formerSlugs.includes(slug));
}

/** Finds a repository by its name, or by one that it had before. */
export const findKnownRepo = (sandbox: Sandbox, owner: string, name: string): RepoRecord | undefined =>
  findRepo(sandbox, owner, name) ?? findMovedRepo(sandbox, owner, name);

/** Forks of a repository, oldest first. */
export const forksOf = ({ state }: Sandbox, { id }: RepoRecord): RepoRecord[] =>
  state.list('repo', GLOBAL).filter((repo) => repo.forkOf === id);

/** The repository that a fork was made of; undefined for one that is no fork, or whose parent was deleted. */
export const parentOf = ({ state }: Sandbox, { forkOf }: RepoRecord): RepoRecord | undefined =>
  forkOf == null ? undefined : state.get('repo', GLOBAL, forkOf);

/** The repository that the branch of a pull request lives in; null when that fork was deleted. */
export function headRepoOf({ state }: Sandbox, repo: RepoRecord, { headRepoId = repo.id }: PullRecord) {
  return state.get('repo', GLOBAL, headRepoId) ?? null;
}

export const userByToken = ({ state }: Sandbox, token: string): UserRecord | undefined =>
  token === '' ? undefined : state.list('user', GLOBAL).find((user) => user.token === token);

/** Adds the user or changes its token; a user without a token (the owner of a repo, say) cannot sign in. */
export function putUser(
  sandbox: Sandbox,
  user: { login: string; token?: string; type?: UserRecord['type'] },
): UserRecord {
  const { state } = sandbox;
  const known = state.findUser(user.login);
  const record: UserRecord = {
    id: known?.id ?? state.nextId(),
    login: known?.login ?? user.login,
    token: user.token ?? known?.token ?? '',
    type: user.type ?? known?.type ?? 'User',
    createdAt: known?.createdAt ?? timestamp(sandbox),
  };
  state.put('user', GLOBAL, record);
  return record;
}
