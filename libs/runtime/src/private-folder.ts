import { chmodSync, closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';

const OWNER_ALL = 0o700;
const OWNER_FILE = 0o600;

/**
 * Makes a folder that only its owner can enter, also when it exists with wider rights.
 * @param own names that may be in it. A folder that holds anything else is shared with others (the temporary folder, a
 * home folder): its rights are left as they are.
 * @returns whether the folder is private now.
 */
export function makePrivateFolder(path: string, own: (name: string) => boolean = () => true): boolean {
  mkdirSync(dirname(path), { recursive: true });
  const made = mkdirSync(path, { recursive: true, mode: OWNER_ALL }) !== undefined;
  if (!made && !readdirSync(path).every(own)) return false;
  // Not by `mode` alone: the folder may be older than this rule.
  chmodSync(path, OWNER_ALL);
  return true;
}

/** Makes a file that only its owner can read, unless it exists; then takes wider rights away. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', OWNER_FILE));
  chmodSync(path, OWNER_FILE);
}
