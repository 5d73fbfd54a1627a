import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentFailure } from '../agents/failures.ts';
import type { KnownSecrets } from '../agents/known-secrets.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { checkOut } from './checkout.ts';
import type { Mirror } from './mirror.ts';
import { GitFailure, names } from './run-git.ts';
import type { TaskFolders } from './tree-folders.ts';
import { TreeGit } from './tree-git.ts';

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
  /** The next work tree in these folders replaces this one. */
  folders: TaskFolders;
  start: StartingPoint;
  env: Readonly<Record<string, string>>;
  sandbox: Sandbox;
  identity: CommitIdentity;
  signal: AbortSignal;
}

const MAX_CHANGED_FILES = 3_000;
const MODE_GITLINK = '160000';
const DELETED = /^0+$/;

/**
 * Arguments: branch, folder of the objects, default branch and its commit, commit of the branch on the host or nothing,
 * commit of the branch, name and address of commits. Input: the shallow commits of the mirror.
 */
const AGENT_REPOSITORY = `
index=$GIT_INDEX_FILE
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
git init -q --template= -b "$1" .
mkdir -p .git/objects/info
printf '%s\\n' "$2" > .git/objects/info/alternates
cat > .git/shallow
[ -s .git/shallow ] || rm .git/shallow
git update-ref "refs/remotes/origin/$3" "$4"
[ -z "$5" ] || git update-ref "refs/remotes/origin/$1" "$5"
git update-ref "refs/heads/$1" "$6"
cp -p "$index" .git/index
git config user.name "$7"
git config user.email "$8"`;

/**
 * Stores the files as a tree. Arguments: files in which markers of conflicts are searched. Ignored files and the repository
 * of the agent are not read; what is neither file, folder nor link is removed, because git would wait for a named pipe.
 * The index is copied with its time: git compares the content of a file only if the file is not older than its index, and
 * otherwise its size and times, which count whole seconds: beside a younger index, a change of the same size in the second
 * of the checkout would not be seen. Submodules are skipped: git would run in the repository that an agent puts there.
 */
const WRITE_TREE = `
find . -path ./.git -prune -o ! -type f ! -type d ! -type l -exec rm -f {} +
cp -p "$GIT_INDEX_FILE" "$GIT_INDEX_FILE.commit"
export GIT_INDEX_FILE="$GIT_INDEX_FILE.commit" GIT_LITERAL_PATHSPECS=1
git ls-files -s -z | tr '\\n\\0' '\\0\\n' | sed -n 's/^160000 [0-9a-f]* 0\t//p' | tr '\\n\\0' '\\0\\n' |
  git update-index -z --skip-worktree --stdin
git add --all .
printf '%s\\0' "$(git write-tree)"
[ $# -eq 0 ] || git grep --cached -l -z -E '^(<<<<<<<|>>>>>>>) ' -- "$@" || :`;

/** Input: the tree, and the one that the mirror has. */
const PACK = 'exec git pack-objects -q --revs --thin --stdout';

/** The files of a work tree. */
export interface StoredFiles {
  tree: string;
  /** True = they are those of the starting point. */
  isUnchanged: boolean;
  /** Files of the starting point with conflicts that still contain markers of conflicts. */
  unresolved: readonly string[];
}

/**
 * The work tree of one task. Its repository shares the objects of the mirror and is of no importance: the agent may change
 * its configuration and its hooks. All commands on the files run in a box as their owner; the mirror receives a pack.
 */
export class WorkTree {
  /** The folder that the agent works in. */
  readonly dir: string;
  readonly start: StartingPoint;
  readonly #options: WorkTreeOptions;
  readonly #git: TreeGit;
  /** Tree that the mirror has received last. */
  #fetched: string | null = null;

  private constructor(options: WorkTreeOptions) {
    const { folders, sandbox, mirror, env, signal } = options;
    this.#options = options;
    this.#git = new TreeGit({ sandbox, folders, objects: mirror.objects, env, signal });
    this.start = options.start;
    this.dir = folders.tree;
  }

  static async create(options: WorkTreeOptions): Promise<WorkTree> {
    const tree = new WorkTree(options);
    const { mirror, folders, start, sandbox, identity } = options;
    const { objects } = mirror;
    // An unconfined agent reaches the index.
    await checkOut({ git: tree.#git, folders, objects, tree: start.tree, reuse: sandbox.isConfined });
    const shallow = await readFile(join(mirror.dir, 'shallow'), 'utf8').catch(() => '');
    const [first = start.base] = start.parents;
    const refs = [start.branch, objects, start.defaultBranch, start.base, start.head ?? '', first];
    await tree.#git.shell(AGENT_REPOSITORY, [...refs, identity.name, identity.email], shallow);
    return tree;
  }

  /**
   * Stores the files inside the box. While the agent runs, the answer is a hint alone. @throws GitFailure for files that git
   * cannot read.
   */
  async stored(): Promise<StoredFiles> {
    const { mirror, start } = this.#options;
    const [tree = '', ...unresolved] = names((await this.#git.shell(WRITE_TREE, start.conflicts)).toString('utf8'));
    const [first = start.base] = start.parents;
    const isUnchanged = start.parents.length < 2 && tree === (await mirror.treeOf(first));
    return { tree, isUnchanged, unresolved };
  }

  /** Returns the paths of changed files that contain one of these secrets in their content or their name. */
  async filesWith(secrets: KnownSecrets, { tree }: StoredFiles): Promise<string[]> {
    const { mirror, start, signal } = this.#options;
    await this.#fetch(tree);
    const changed = (await this.#changes(start.tree, tree)).filter(({ id }) => !DELETED.test(id));
    const isIn = (ids: string[]) => secrets.areIn(mirror.contents(ids, signal));
    // One program reads all files; only for an answer that names some is each one read again.
    const isAny = await isIn(changed.map(({ id }) => id));
    const found: string[] = [];
    for (const { id, path } of changed) {
      const shown = secrets.redact(path);
      if (shown !== path || (isAny && (await isIn([id])))) found.push(shown);
    }
    return found;
  }

  /**
   * Commits stored files on top of the starting point, after all programs of the task have ended. @returns the commit and
   * all files that differ from the default branch. @throws AgentFailure for a nested repository or too many files.
   */
  async commit({ tree }: StoredFiles, message: string): Promise<{ commit: string; changedFiles: string[] }> {
    const { mirror, start, identity } = this.#options;
    await this.#fetch(tree);
    const changedFiles = await this.#changedFiles(tree);
    const { name, email } = identity;
    const author = {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
    };
    const parents = start.parents.flatMap((parent) => ['-p', parent]);
    const commit = (await mirror.git(['commit-tree', ...parents, tree], author, message)).trim();
    return { commit, changedFiles };
  }

  /** Ends all programs that work on the files. */
  end(): Promise<void> {
    return this.#git.end();
  }

  /** Brings a tree from the box into the mirror. */
  async #fetch(tree: string): Promise<void> {
    const { mirror, start } = this.#options;
    if (!/^[0-9a-f]{40,64}$/.test(tree)) throw new GitFailure('the work tree has no tree', null, tree);
    const known = await mirror.treeOf(start.tree);
    if (tree === known || tree === this.#fetched) return;
    const packing = this.#git.stream(PACK, [], `${tree}\n^${known}\n`);
    await mirror.receive(packing.stdout);
    await packing.ended;
    await mirror.treeOf(tree);
    this.#fetched = tree;
  }

  /** Files that differ between the default branch and a commit of the mirror. */
  async changedSince(commit: string): Promise<string[]> {
    return this.#changedFiles(commit);
  }

  async #changedFiles(tree: string): Promise<string[]> {
    return (await this.#changes(this.#options.start.base, tree)).map(({ path }) => path);
  }

  /** @throws AgentFailure for a nested repository or too many files. */
  async #changes(from: string, to: string): Promise<{ mode: string; id: string; path: string }[]> {
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to];
    const fields = names(await this.#options.mirror.git(args));
    const entries = fields.flatMap((field, index) => {
      const [, mode = '', , id = ''] = field.split(' ');
      return index % 2 === 0 ? [{ mode, id, path: fields[index + 1] ?? '' }] : [];
    });
    const nested = entries.find(({ mode }) => mode === MODE_GITLINK);
    if (nested) throw new AgentFailure('transient', `${nested.path} is a repository inside the work tree`);
    if (entries.length > MAX_CHANGED_FILES)
      throw new AgentFailure('transient', `${entries.length} files changed; at most ${MAX_CHANGED_FILES} are possible`);
    return entries;
  }
}
