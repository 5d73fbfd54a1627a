import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Returns the path with all symbolic links of its existing part resolved; the rest may not exist yet. */
export function realPath(path: string): string {
  let existing = resolve(path);
  const missing: string[] = [];
  for (;;) {
    try {
      return join(realpathSync(existing), ...missing);
    } catch (error) {
      // A loop of links, or a file in place of a folder, leads nowhere.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(existing) === existing) return resolve(path);
      missing.unshift(existing.slice(dirname(existing).length).replace(/^\/+/, ''));
      existing = dirname(existing);
    }
  }
}

/** Returns whether a path, relative to the root or absolute, is the root or below it, after symbolic links. */
export function isInside(root: string, path: string): boolean {
  const from = relative(realpathSync(root), realPath(isAbsolute(path) ? path : join(root, path)));
  return from !== '..' && !from.startsWith(`..${sep}`) && !isAbsolute(from);
}

/** Returns whether a path inside the root belongs to the git directory, whose configuration may run programs. */
export function isGitInternal(root: string, path: string): boolean {
  const from = relative(realpathSync(root), realPath(isAbsolute(path) ? path : join(root, path)));
  return from.split(sep).some((part) => part.toLowerCase() === '.git');
}
