import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and its missing parents. Unlike this function, Node's recursive mkdir never returns below a folder where
 * none can be created, such as /proc.
 * @throws Error naming the path when it cannot be created or is not a folder.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  let at = resolve(path);
  while (!isFolder(at)) {
    missing.unshift(at);
    at = dirname(at);
  }
  for (const folder of missing) {
    try {
      mkdirSync(folder);
    } catch (error) {
      // Another process may have created it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(folder)) throw error;
    }
  }
}

function isFolder(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) throw new Error(`${path} is not a folder`);
  return found !== undefined;
}
