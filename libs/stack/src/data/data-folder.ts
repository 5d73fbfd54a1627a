import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { releaseData, removeAbandoned, takeData } from '@pipeline/local-postgres';
import { makePrivateFolder, StartError } from '@pipeline/runtime';
import { endLeftovers } from '../supervision/process-list.ts';

/** Files of a stack; everything else in the folder belongs to other programs or people. */
const FILES = ['stack.json', 'pipeline.yaml', 'processes.json'];
/** `postgres` has an owner of its own, and is made private where it is made. */
const FOLDERS = ['sandbox', 'source', 'work', 'logs'];
const PARTS = [...FILES, ...FOLDERS, 'postgres'];

/** Also half-written files (`.new`), and the file that names the owner. */
const isPart = (name: string): boolean => name === 'owner' || PARTS.includes(name.replace(/\.new$/, ''));

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

export interface DataFolder {
  path: string;
  /** Names of the processes that a killed stack had left running. */
  ended: string[];
  release(): Promise<void>;
}

/**
 * Takes the folder for this process and clears up after a stack that was killed.
 * @param fresh true = removes what earlier stacks kept in it.
 * @throws StartError when another stack uses it, or it cannot be written.
 */
export async function takeDataFolder(path: string, fresh: boolean): Promise<DataFolder> {
  try {
    makePrivateFolder(path, isPart);
    await takeData(path);
  } catch (error) {
    throw new StartError(`--data-dir ${path} cannot be used: ${(error as Error).message}`, { cause: error });
  }
  const ended = await endLeftovers(path);
  if (fresh) {
    // A server that survived its keeper must not lose its files under its feet.
    await removeAbandoned(join(path, 'postgres'));
    for (const part of PARTS) await rm(join(path, part), { recursive: true, force: true });
  }
  // In a folder that is shared with others each part is private by itself.
  for (const part of FOLDERS) makePrivateFolder(join(path, part));
  for (const part of FILES) await chmod(join(path, part), 0o600).catch(ignoreMissing);
  return { path, ended, release: () => releaseData(path) };
}
