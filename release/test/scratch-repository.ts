import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from '@jest/globals';
import { ROOT, repositoryFiles } from '../../scripts/checks/workspace.ts';

/** Commits the files of this repository, as they are in the working tree, to a new repository with the same packages. */
export function scratchRepository(): string {
  const root = mkdtempSync(join(tmpdir(), 'release-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  for (const path of repositoryFiles()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    cpSync(join(ROOT, path), join(root, path));
  }
  for (const folder of ['', 'libs/contract/', 'release/']) {
    symlinkSync(join(ROOT, folder, 'node_modules'), join(root, folder, 'node_modules'));
  }
  runGit(root, 'init', '--quiet', '--initial-branch', 'main');
  // .gitignore names folders; these are links.
  appendFileSync(join(root, '.git/info/exclude'), 'node_modules\n');
  runGit(root, 'config', 'user.name', 'Maintainer');
  runGit(root, 'config', 'user.email', 'maintainer@example.org');
  commitAll(root);
  return root;
}

export const runGit = (root: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd();

export function commitAll(root: string): void {
  runGit(root, 'add', '--all');
  runGit(root, 'commit', '--quiet', '--message', 'test');
}

/** Replaces the first occurrence of a text in a file. */
export function edit(root: string, path: string, before: string, after: string): void {
  const text = readFileSync(join(root, path), 'utf8');
  if (!text.includes(before)) throw new Error(`${path} has no ${before}`);
  writeFileSync(
    join(root, path),
    text.replace(before, () => after),
  );
}
