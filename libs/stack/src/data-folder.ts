import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, StartError } from '@pipeline/runtime';
import { releaseData, takeData } from './data-owner.ts';
import { removeAbandoned } from './postgres.ts';
import { endLeftovers } from './supervision/process-list.ts';

/** What a stack keeps; everything else in the folder is somebody else's. */
const PARTS = ['stack.json', 'pipeline.yaml', 'processes.json', 'postgres', 'sandbox', 'source', 'work', 'logs'];

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
    makeFolder(path);
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
  return { path, ended, release: () => releaseData(path) };
}
