import type { RepoRecord, Sandbox } from '../state/model.ts';
import { branchRef } from './git.ts';

/** Brings the commits of a branch of a fork into the repository that it was made of. */
export async function fetchBranch({ git }: Sandbox, into: RepoRecord, from: RepoRecord, branch: string): Promise<void> {
  if (from.id === into.id) return;
  const quiet = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head'];
  await git.run(git.dir(into), [...quiet, git.dir(from), branchRef(branch)]);
}
