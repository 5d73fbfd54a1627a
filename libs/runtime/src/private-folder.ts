import { chmodSync, closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolder } from './make-folder.ts';

const OWNER_ALL = 0o700;
const OWNER_FILE = 0o600;

/**
 * Creates a folder with mode 0700, or restricts an existing one.
 * @param own names that the folder may contain. A folder with other content is shared (the temporary folder, a home folder),
 * and its mode is not changed.
 * @returns whether the folder is private.
 */
export function makePrivateFolder(path: string, own: (name: string) => boolean = () => true): boolean {
  makeFolder(dirname(resolve(path)));
  if (!makesFolder(path) && !readdirSync(path).every(own)) return false;
  // `mode` alone is not sufficient: the folder may already exist with a wider mode.
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

/** Creates a file with mode 0600, or restricts an existing one. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', OWNER_FILE));
  chmodSync(path, OWNER_FILE);
}
