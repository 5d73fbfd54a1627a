import { dirname } from 'node:path';
import { GitFailure, names } from './run-git.ts';
import type { TaskFolders } from './tree-folders.ts';
import type { TreeGit } from './tree-git.ts';

export interface CheckoutOptions {
  git: TreeGit;
  folders: TaskFolders;
  /** Folder of the objects of the mirror. */
  objects: string;
  tree: string;
  /** True = files of the previous task that have not changed are kept. */
  reuse: boolean;
}

/** Separates the names of the index from those of the files; no name is absolute. */
const SEPARATOR = '/';

/** Arguments: folder of the objects, tree. */
const RESET = `
[ "$(cat "$GIT_DIR/objects/info/alternates")" = "$1" ]
rm -rf .git
chmod 700 .
git clean -ffdxq
git read-tree --reset -u "$2"
git ls-files -z; printf '${SEPARATOR}\\0'; find . -mindepth 1 -print0`;

/** Arguments: folder of the objects, tree, folder of the index and the repository. */
const CHECK_OUT = `
chmod 700 .
for folder in . "$3"; do chmod -R u+rwX "$folder" 2> /dev/null || :; find "$folder" -mindepth 1 -delete; done
(unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE; git init -q --bare --template= "$3/repo")
mkdir -p "$GIT_DIR/objects/info"
printf '%s\\n' "$1" > "$GIT_DIR/objects/info/alternates"
git read-tree --reset -u "$2"`;

const EMPTY_HOME = 'chmod 700 "$1"; chmod -R u+rwX "$1" 2> /dev/null || :; find "$1" -mindepth 1 -delete';

/**
 * Makes the folder contain exactly the files of a tree, and empties the home folder. With `reuse` only files that differ from
 * those of the previous task are written: the index holds times and inodes that an agent cannot forge. If that fails, all
 * files are checked out.
 */
export async function checkOut(options: CheckoutOptions): Promise<void> {
  const { git, folders, objects, tree, reuse } = options;
  await git.shell(EMPTY_HOME, [folders.home]);
  if (reuse && (await reset(options))) return;
  await git.shell(CHECK_OUT, [objects, tree, folders.store]);
}

/** @returns false when the folder contains more or less than the tree afterwards. */
async function reset({ git, objects, tree }: CheckoutOptions): Promise<boolean> {
  const output = await git.shell(RESET, [objects, tree]).catch((error: unknown) => {
    if (error instanceof GitFailure) return null;
    throw error;
  });
  if (output === null) return false;
  const all = names(output.toString('utf8'));
  const at = all.indexOf(SEPARATOR);
  const expected = new Set<string>();
  for (const path of all.slice(0, at))
    for (let name = path; name !== '.' && !expected.has(name); name = dirname(name)) expected.add(name);
  const found = all.slice(at + 1).map((path) => path.slice('./'.length));
  return found.length === expected.size && found.every((path) => expected.has(path));
}
