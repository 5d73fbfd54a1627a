import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder and those above it that are missing. Node's recursive mkdir never returns where a folder exists in
 * which none can be made, such as /proc; this throws.
 * @throws Error naming the path when it cannot be made or is not a folder.
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
      // Another process may have made it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(folder)) throw error;
    }
  }
}

function isFolder(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) throw new Error(`${path} is not a folder`);
  return found !== undefined;
}
