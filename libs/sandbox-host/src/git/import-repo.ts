import { rmSync } from 'node:fs';
import type { HostGit } from '../state/model.ts';
import { branchRef } from './git.ts';

const NO_AUTHOR = { GIT_AUTHOR_NAME: 'sandbox', GIT_AUTHOR_EMAIL: 'sandbox@localhost' };
const NO_COMMITTER = { GIT_COMMITTER_NAME: 'sandbox', GIT_COMMITTER_EMAIL: 'sandbox@localhost' };

/**
 * Makes the bare repository: branches and tags of `source` (a path or a URL), or one empty first commit without it.
 * What an interrupted import left is thrown away first.
 * @returns the default branch.
 */
export async function importRepository(git: HostGit, dir: string, source: string | null): Promise<string> {
  rmSync(dir, { recursive: true, force: true });
  if (source === null) return createEmpty(git, dir);
  await git.run(git.root, ['clone', '--quiet', '--mirror', '--', source, dir]);
  await git.run(dir, ['remote', 'remove', 'origin']);
  const refs = await git.run(dir, ['for-each-ref', '--format=%(refname)']);
  for (const ref of refs.split('\n').filter((name) => name && !/^refs\/(heads|tags)\//.test(name))) {
    await git.run(dir, ['update-ref', '-d', ref]);
  }
  return defaultBranch(git, dir);
}

async function createEmpty(git: HostGit, dir: string): Promise<string> {
  await git.run(git.root, ['init', '--quiet', '--bare', '--initial-branch=main', dir]);
  const tree = await git.run(dir, ['hash-object', '-t', 'tree', '-w', '/dev/null']);
  const commit = await git.run(dir, ['commit-tree', tree, '-m', 'Initial commit'], { ...NO_AUTHOR, ...NO_COMMITTER });
  await git.run(dir, ['update-ref', branchRef('main'), commit]);
  return 'main';
}

/** HEAD's branch; a checkout without one (a detached HEAD) gets `main` where it stands. */
async function defaultBranch(git: HostGit, dir: string): Promise<string> {
  const head = await git.resolve(dir, 'HEAD');
  const name = await git.run(dir, ['rev-parse', '--abbrev-ref', 'HEAD']).catch(() => 'HEAD');
  if (head && name !== 'HEAD') return name;
  const branches = await git.run(dir, ['for-each-ref', '--format=%(refname:short)', 'refs/heads']);
  const [first] = branches.split('\n');
  const branch = head ? 'main' : first;
  if (!branch) throw new Error('the repository to import has no commit on any branch');
  if (head) await git.run(dir, ['update-ref', branchRef(branch), head]);
  await git.run(dir, ['symbolic-ref', 'HEAD', branchRef(branch)]);
  return branch;
}
