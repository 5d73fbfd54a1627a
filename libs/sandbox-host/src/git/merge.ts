import type { HostGit, MergeMethod } from '../state/model.ts';
import { GitError } from './git.ts';

export interface MergeOrder {
  base: string;
  head: string;
  method: MergeMethod;
  message: string;
  author: string;
  at: Date;
}

/** The tree of both sides together; null when they conflict. Works on objects only, no checkout. */
export async function mergeTree(git: HostGit, dir: string, base: string, head: string): Promise<string | null> {
  try {
    const out = await git.run(dir, ['merge-tree', '--write-tree', base, head]);
    return out.split('\n')[0] ?? null;
  } catch (error) {
    if (error instanceof GitError && error.code === 1) return null;
    throw error;
  }
}

/**
 * Makes the commit that the base branch would move to; no branch moves yet.
 * @returns null when the two conflict.
 */
export async function makeMerge(git: HostGit, dir: string, order: MergeOrder): Promise<string | null> {
  if (order.method === 'rebase') return rebase(git, dir, order);
  const tree = await mergeTree(git, dir, order.base, order.head);
  if (tree === null) return null;
  const parents = order.method === 'merge' ? [order.base, order.head] : [order.base];
  return commitTree(git, dir, {
    tree,
    parents,
    message: order.message,
    env: { ...author(order), ...committer(order) },
  });
}

/**
 * Replays the branch's commits. The stand-in commit has the current tree and the replayed commit's parent, so that
 * merge-tree takes that parent as the merge base, which makes the merge a cherry-pick.
 */
async function rebase(git: HostGit, dir: string, order: MergeOrder): Promise<string | null> {
  const list = await git.run(dir, ['rev-list', '--reverse', '--no-merges', `${order.base}..${order.head}`]);
  let tip = order.base;
  for (const commit of list.split('\n').filter(Boolean)) {
    const env = { ...author(order), ...committer(order) };
    const standIn = await commitTree(git, dir, { tree: `${tip}^{tree}`, parents: [`${commit}^`], message: 'x', env });
    const tree = await mergeTree(git, dir, standIn, commit);
    if (tree === null) return null;
    const format = '--format=%an%x00%ae%x00%aI%x00%B';
    const [name = '', email = '', date = '', message = ''] = (
      await git.run(dir, ['show', '--no-patch', format, commit])
    ).split('\0');
    const written = { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date };
    tip = await commitTree(git, dir, { tree, parents: [tip], message, env: { ...written, ...committer(order) } });
  }
  return tip;
}

interface NewCommit {
  tree: string;
  parents: string[];
  message: string;
  env: Record<string, string>;
}

async function commitTree(git: HostGit, dir: string, commit: NewCommit): Promise<string> {
  const [tree, ...parents] = await Promise.all(
    [commit.tree, ...commit.parents].map((revision) => git.run(dir, ['rev-parse', '--verify', revision])),
  );
  const args = ['commit-tree', tree ?? '', ...parents.flatMap((parent) => ['-p', parent]), '-m', commit.message];
  return git.run(dir, args, commit.env);
}

const author = ({ author: login, at }: MergeOrder) => ({
  GIT_AUTHOR_NAME: login,
  GIT_AUTHOR_EMAIL: `${login}@users.noreply.localhost`,
  GIT_AUTHOR_DATE: at.toISOString(),
});

const committer = ({ author: login, at }: MergeOrder) => ({
  GIT_COMMITTER_NAME: login,
  GIT_COMMITTER_EMAIL: `${login}@users.noreply.localhost`,
  GIT_COMMITTER_DATE: at.toISOString(),
});
