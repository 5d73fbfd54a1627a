import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../../..');

/**
 * Makes the npm package of a program or of the client and installs it in an empty project, as users do, without the registry.
 *
 * @param folder gets the tarball and the project
 * @returns the folder of the project
 */
export function installedPackage(name: 'agent' | 'client' | 'contract-tests', folder: string): string {
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "program", "private": true, "type": "module" }');
  const npm = (args: string[], cwd: string) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' });
  const printed = npm(['run', '-s', 'tarball', '--', name, '--out', folder], ROOT);
  const tarball = printed.trim().split('\n').at(-1) ?? '';
  npm(['install', '--offline', '--no-audit', '--no-fund', tarball], project);
  return project;
}
