/** The Helm chart as `helm package` makes it. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, matchesGlob, relative } from 'node:path';
import { create } from 'tar';
import { git } from './commands.ts';
import { CHART } from './versions.ts';

/**
 * Writes `pipeline-VERSION.tgz` to a folder: the tracked files of the chart, but for those of its .helmignore. The same commit
 * always results in the same bytes.
 * @returns false when the repository has no chart.
 */
export async function packChart(root: string, out: string, version: string): Promise<boolean> {
  const folder = join(root, CHART);
  if (!existsSync(join(folder, 'Chart.yaml'))) return false;
  const ignored = ignorePatterns(join(folder, '.helmignore'));
  const files = git(root, 'ls-files', CHART)
    .split('\n')
    .filter((path) => !isIgnored(relative(CHART, path), ignored))
    .map((path) => relative(dirname(CHART), path));
  const mtime = new Date(git(root, 'log', '-1', '--format=%cI', '--', CHART));
  await create(
    { cwd: join(root, dirname(CHART)), file: join(out, `pipeline-${version}.tgz`), gzip: true, portable: true, mtime },
    files,
  );
  return true;
}

function ignorePatterns(file: string): string[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

/** Patterns match a file, or a folder above it, by its path in the chart or by its name. Negation is not supported. */
function isIgnored(path: string, patterns: readonly string[]): boolean {
  const parts = path.split('/');
  const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  return patterns.some((pattern) => {
    const plain = pattern.replace(/^\//, '').replace(/\/$/, '');
    return prefixes.some((prefix) => matchesGlob(prefix, plain) || matchesGlob(basename(prefix), plain));
  });
}
