import { chmodSync, closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolder } from './make-folder.ts';

const OWNER_ALL = 0o700;
const OWNER_FILE = 0o600;

/**
 * Makes a folder that only its owner can enter, also when it exists with wider rights.
 * @param own names that may be in it. A folder that holds anything else is shared with others (the temporary folder, a
 * home folder): its rights are left as they are.
 * @returns whether the folder is private now.
 */
export function makePrivateFolder(path: string, own: (name: string) => boolean = () => true): boolean {
  makeFolder(dirname(resolve(path)));
  if (!makesFolder(path) && !readdirSync(path).every(own)) return false;
  // Not by `mode` alone: the folder may be older than this rule.
  chmodSync(path, OWNER_ALL);
  return true;
}

/** @returns false when the folder exists. */
function makesFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: OWNER_ALL });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Makes a file that only its owner can read, unless it exists; then takes wider rights away. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', OWNER_FILE));
  chmodSync(path, OWNER_FILE);
}
