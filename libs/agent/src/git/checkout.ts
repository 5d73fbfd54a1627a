import { lchown, lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { RunAs } from '@pipeline/worker';
import { names } from './run-git.ts';

/** A repository that contains the tree. */
export interface CheckoutSource {
  readonly dir: string;
  /** Runs git in it, without credentials. */
  git(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string>;
}

export interface CheckoutOptions {
  mirror: CheckoutSource;
  /** Contains the files, and beside them their index, which agents cannot write. */
  folder: string;
  /** Commit or tree. */
  tree: string;
  /** Owner of the files; null = user of this process. */
  user: RunAs | null;
}

/** Folder of the files. */
export const filesOf = (folder: string): string => join(folder, 'tree');

/** The index of the files as they were checked out. */
export const indexOf = (folder: string): string => join(folder, 'index');

/** Names the mirror of the files. */
const sourceOf = (folder: string): string => join(folder, 'mirror');

/**
 * Makes the folder contain exactly the files of a tree. Only files that differ from those of the previous task are
 * written: the index holds times and inodes that an agent cannot forge. If the reset fails, all files are checked out.
 */
export async function checkOut(options: CheckoutOptions): Promise<void> {
  const { mirror, folder } = options;
  const known = await readFile(sourceOf(folder), 'utf8').catch(() => null);
  if (known !== mirror.dir || !(await reset(options).catch(() => false))) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(filesOf(folder), { recursive: true });
    await readTree(options);
    await writeFile(sourceOf(folder), mirror.dir);
  }
  if (options.user !== null) await giveTo(options, options.user);
}

/** @returns false when the folder contains more or less than the tree afterwards. */
async function reset(options: CheckoutOptions): Promise<boolean> {
  const { folder } = options;
  const dir = filesOf(folder);
  await rm(join(dir, '.git'), { recursive: true, force: true });
  await inFiles(options, ['clean', '-ffdxq']);
  await readTree(options);
  const expected = new Set<string>();
  for (const path of names(await inFiles(options, ['ls-files', '-z'])))
    for (let name = path; name !== '.' && !expected.has(name); name = dirname(name)) expected.add(name);
  const found = await pathsIn(dir);
  return found.length === expected.size && found.every((path) => expected.has(path));
}

async function readTree(options: CheckoutOptions): Promise<void> {
  await inFiles(options, ['read-tree', '--reset', '-u', options.tree]);
}

/** Runs git on the files with the mirror as its repository: the configuration of the agent's repository is not read. */
function inFiles({ mirror, folder }: CheckoutOptions, args: readonly string[]): Promise<string> {
  const dir = filesOf(folder);
  const env = { GIT_INDEX_FILE: indexOf(folder), GIT_WORK_TREE: dir, GIT_DIR: mirror.dir };
  return mirror.git(['-C', dir, ...args], env);
}

/** A change of the owner changes the times of a file, which the index contains. */
async function giveTo(options: CheckoutOptions, user: RunAs): Promise<void> {
  const dir = filesOf(options.folder);
  let changed = false;
  for (const path of ['.', ...(await pathsIn(dir))]) {
    const { uid, gid } = await lstat(join(dir, path));
    if (uid === user.uid && gid === user.gid) continue;
    await lchown(join(dir, path), user.uid, user.gid);
    changed = true;
  }
  if (changed) await inFiles(options, ['update-index', '-q', '--refresh']);
}

/** Returns files and folders below a folder. Without types, `readdir` would follow symbolic links to folders. */
async function pathsIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries.map(({ parentPath, name }) => relative(dir, join(parentPath, name)));
}
