/**
 * Selects the tests that prove a change. Of all test files that depend on a changed file, by Jest's own graph of imports,
 * those run that are in the package of the file or in the folder of its capability in another package. Most packages are
 * imported as a whole, so the graph alone would select nearly every test for a change of the store.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';

const PACKAGE = /^((?:libs|services)\/[^/]+(?:\/web)?|scripts)\//;
const CAPABILITY = /\/(?:src|test)\/(?:routes\/)?([^/]+)(?:\/|\.)/;
const CODE = /\.(?:ts|tsx|mjs)$/;

/** Files that differ from the merge base of `ref` and HEAD, new and uncommitted ones included. @throws for an unknown ref. */
export function changedFiles(root, ref) {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  const [base] = git('merge-base', ref, 'HEAD');
  return [...new Set([...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')])];
}

/**
 * The test files to run for the changed files, and the number of all that depend on them.
 * @param related returns the paths of all test files that depend on some files.
 */
export function testsOf(root, files, related) {
  const code = files.filter((file) => CODE.test(file) && existsSync(join(root, file)));
  const dependent = code.length === 0 ? [] : related(code).map((path) => relative(root, path));
  const places = files.map(placeOf);
  const selected = dependent.filter((test) => {
    const { folder, capability } = placeOf(test);
    return places.some((place) => place.folder === folder || place.capability === capability) || files.includes(test);
  });
  return { selected, dependent: dependent.length };
}

function placeOf(file) {
  return { folder: PACKAGE.exec(file)?.[1] ?? null, capability: CAPABILITY.exec(file)?.[1] ?? null };
}
