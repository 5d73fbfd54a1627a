/** The repository as the checks see it: its tracked files. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** Paths of all files that git tracks or would add, without those that are deleted. */
export function repositoryFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  const paths = new Set(listed.toString().trimEnd().split('\n'));
  return [...paths].filter((path) => existsSync(join(ROOT, path))).sort();
}
