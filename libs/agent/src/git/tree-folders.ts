import { chown, lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@pipeline/runtime';
import type { Sandbox } from '../sandbox/sandbox.ts';

/** Folders of the tasks of a slot. They belong to the user of the agents; the worker reads and writes nothing in them. */
export interface TaskFolders {
  /** The work tree. */
  tree: string;
  /** The home folder of the agent. */
  home: string;
  /** Index and objects of the work tree, which agents in a sandbox do not reach. */
  store: string;
}

const PRIVATE = 0o700;
/** The user of the agents passes through it. */
const PASSABLE = 0o711;

/**
 * Creates the missing folders in a folder of the worker, which others cannot enter unless unconfined agents run as another
 * user. @throws Error when one of them belongs to somebody else.
 */
export async function taskFolders(parent: string, { user, isConfined }: Sandbox): Promise<TaskFolders> {
  const uid = user?.uid ?? process.getuid?.() ?? 0;
  const own = join(parent, `user-${uid}`);
  makeFolder(parent);
  await mkdir(own, { recursive: true, mode: user === null || isConfined ? PRIVATE : PASSABLE });
  const make = async (name: string): Promise<string> => {
    const path = join(own, name);
    const isNew = (await mkdir(path, { recursive: true, mode: PRIVATE })) !== undefined;
    if (isNew && user !== null) await chown(path, user.uid, user.gid);
    const found = await lstat(path);
    if (!found.isDirectory() || found.uid !== uid) throw new Error(`${path} does not belong to the user ${uid}`);
    return path;
  };
  return { tree: await make('tree'), home: await make('home'), store: await make('store') };
}
