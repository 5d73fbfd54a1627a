import type { Sandbox } from './context.ts';
import type { PullRecord, RepoRecord } from './model.ts';
import { GLOBAL } from './state.ts';

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

/** `owner:branch`, by which the host lists and names the head of a pull request. */
export const headLabel = (repo: RepoRecord, { headOwner = repo.owner, headRef }: PullRecord): string =>
  `${headOwner}:${headRef}`;
