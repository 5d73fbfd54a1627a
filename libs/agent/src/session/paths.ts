import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Links that a path may lead through, as in Linux. */
const MAX_LINKS = 40;

/**
 * Returns the path with all symbolic links resolved, also those that lead to what does not exist or cannot be read: the result
 * is on the same side of the root of a work tree, whatever exists outside. A loop of links leads nowhere.
 */
export function realPath(path: string): string {
  let existing = resolve(path);
  const missing: string[] = [];
  for (let links = 0; links <= MAX_LINKS; ) {
    try {
      return join(realpathSync(existing), ...missing);
    } catch {
      const target = targetOf(existing);
      if (target === null) missing.unshift(basename(existing));
      else links += 1;
      existing = target ?? dirname(existing);
    }
  }
  return join(existing, ...missing);
}

function targetOf(link: string): string | null {
  try {
    return resolve(realpathSync(dirname(link)), readlinkSync(link));
  } catch {
    return null;
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
