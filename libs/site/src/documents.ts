import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Markdown documents of the repository that are pages in any case; the build adds the files that these link to. */
export function siteDocuments(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root });
  return listed
    .toString()
    .split('\n')
    .filter((path) => /^(README|CHANGELOG|CONTRIBUTING)\.md$|^docs\/.*\.md$/.test(path))
    .filter((path) => existsSync(join(root, path)))
    .sort();
}
