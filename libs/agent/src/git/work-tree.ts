import { existsSync } from 'node:fs';
import { cp, lchown, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunAs } from '@pipeline/worker';
import { AgentFailure } from '../agents/failures.ts';
import { checkOut, filesOf, indexOf } from './checkout.ts';
import type { Mirror } from './mirror.ts';
import { git, gitEnvironment, names } from './run-git.ts';

/** Identity of the commits that the pipeline makes. */
export interface CommitIdentity {
  name: string;
  email: string;
}

/** State of a branch that a task starts from. */
export interface StartingPoint {
  branch: string;
  /** Commit of the default branch. */
  base: string;
  defaultBranch: string;
  /** Commit of the branch on the host; null when it does not exist. */
  head: string | null;
  /** Parents of the next commit: the branch, and the default branch if it is merged into it. */
  parents: readonly string[];
  /** Content of the work tree. */
  tree: string;
  /** Files that contain markers of conflicts. */
  conflicts: readonly string[];
}

export interface WorkTreeOptions {
  mirror: Mirror;
  /** Folder of the work tree. The next work tree in it replaces this one. */
  folder: string;
  start: StartingPoint;
  env: Readonly<Record<string, string>>;
  /** Owner of the files; null = user of this process. */
  user: RunAs | null;
  identity: CommitIdentity;
}

const MAX_CHANGED_FILES = 3_000;
const MODE_GITLINK = '160000';

/**
 * The work tree of one task. Its repository shares the objects of the mirror and is of no importance: the agent may change
 * its configuration and its hooks. Commits are made from the files alone, in the mirror with an index of its own.
 */
export class WorkTree {
  /** The folder that the agent works in. */
  readonly dir: string;
  readonly start: StartingPoint;
  readonly #options: WorkTreeOptions;

  private constructor(options: WorkTreeOptions) {
    this.#options = options;
    this.start = options.start;
    this.dir = filesOf(options.folder);
  }

  static async create(options: WorkTreeOptions): Promise<WorkTree> {
    const tree = new WorkTree(options);
    const { mirror, folder, start, env, user, identity } = options;
    await checkOut({ mirror, folder, tree: start.tree, user });
    const repository = join(tree.dir, '.git');
    // With an explicit repository git does not ask who owns the folder.
    const own = (...args: string[]) =>
      git(args, { cwd: tree.dir, env: { ...gitEnvironment(env), GIT_DIR: repository, GIT_WORK_TREE: tree.dir } });
    await own('init', '-q', '--template=', '-b', start.branch);
    await mkdir(join(repository, 'objects/info'), { recursive: true });
    await writeFile(join(repository, 'objects/info/alternates'), `${join(mirror.dir, 'objects')}\n`);
    const shallow = join(mirror.dir, 'shallow');
    if (existsSync(shallow)) await cp(shallow, join(repository, 'shallow'));
    const [first = start.base] = start.parents;
    await own('update-ref', `refs/remotes/origin/${start.defaultBranch}`, start.base);
    if (start.head !== null) await own('update-ref', `refs/remotes/origin/${start.branch}`, start.head);
    await own('update-ref', `refs/heads/${start.branch}`, first);
    await copyIndex(folder, join(repository, 'index'));
    await own('config', 'user.name', identity.name);
    await own('config', 'user.email', identity.email);
    if (user !== null) await chownAll(repository, user);
    return tree;
  }

  /**
   * Commits the files of the work tree on top of the starting point. @returns the commit and all files that differ from the
   * default branch; null when nothing differs from the starting point.
   * @throws AgentFailure for a nested repository or too many files.
   */
  async commit(message: string): Promise<{ commit: string; changedFiles: string[] } | null> {
    const { mirror, folder, start, identity } = this.#options;
    const tree = await this.#writeTree();
    const [first = start.base] = start.parents;
    const before = (await mirror.git(['rev-parse', `${first}^{tree}`])).trim();
    if (tree === before && start.parents.length < 2) return null;
    const changedFiles = await this.#changedFiles(tree);
    const { name, email } = identity;
    const author = {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
    };
    const file = join(folder, 'message');
    await writeFile(file, message);
    const parents = start.parents.flatMap((parent) => ['-p', parent]);
    const commit = (await mirror.git(['commit-tree', ...parents, '-F', file, tree], author)).trim();
    return { commit, changedFiles };
  }

  /** Returns the files of the given ones that still contain markers of conflicts. */
  async unresolved(): Promise<string[]> {
    const { mirror, start } = this.#options;
    if (start.conflicts.length === 0) return [];
    const tree = await this.#writeTree();
    const marked = await mirror
      .git(['grep', '-l', '-z', '-E', '^(<<<<<<<|>>>>>>>) ', tree, '--', ...start.conflicts])
      .catch(() => '');
    return names(marked).map((name) => name.slice(tree.length + 1));
  }

  /** Files that differ between the default branch and a commit of the mirror. */
  async changedSince(commit: string): Promise<string[]> {
    return this.#changedFiles(commit);
  }

  /** Stores the files as a tree. Ignored files and the repository of the agent are not read. */
  async #writeTree(): Promise<string> {
    const { mirror, folder } = this.#options;
    const index = join(folder, 'commit-index');
    await copyIndex(folder, index);
    const env = { GIT_INDEX_FILE: index, GIT_WORK_TREE: this.dir, GIT_DIR: mirror.dir };
    await mirror.git(['-C', this.dir, 'add', '--all', '.'], env);
    return (await mirror.git(['write-tree'], env)).trim();
  }

  async #changedFiles(tree: string): Promise<string[]> {
    const { mirror, start } = this.#options;
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', start.base, tree];
    const fields = names(await mirror.git(args));
    const entries = fields.flatMap((field, index) =>
      index % 2 === 0 ? [{ field, path: fields[index + 1] ?? '' }] : [],
    );
    const nested = entries.find(({ field }) => field.split(' ')[1] === MODE_GITLINK);
    if (nested) throw new AgentFailure('transient', `${nested.path} is a repository inside the work tree`);
    if (entries.length > MAX_CHANGED_FILES)
      throw new AgentFailure('transient', `${entries.length} files changed; at most ${MAX_CHANGED_FILES} are possible`);
    return entries.map(({ path }) => path);
  }
}

/**
 * Copies the index with its time. Git compares the content of a file only if the file is not older than its index, and
 * otherwise its size and times, which count whole seconds: beside a younger index, a change of the same size in the second of
 * the checkout would not be seen.
 */
const copyIndex = (folder: string, to: string): Promise<void> => cp(indexOf(folder), to, { preserveTimestamps: true });

async function chownAll(path: string, user: RunAs): Promise<void> {
  await lchown(path, user.uid, user.gid);
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true }))
    await lchown(join(entry.parentPath, entry.name), user.uid, user.gid);
}
