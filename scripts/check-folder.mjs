/**
 * Types and tests of a folder that is no part of the workspace, such as bench. `npm run check -- FOLDER` installs it first.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const [folder = '', ...paths] = process.argv.slice(2);
const steps = [
  [join(root, 'node_modules/.bin/tsc'), '--noEmit', '-p', folder],
  [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    ...paths,
    '--roots',
    folder,
  ],
];
for (const [program, ...args] of existsSync(join(root, folder, 'tsconfig.json')) ? steps : steps.slice(1)) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (error) console.error(error.message);
  if (status !== 0) process.exitCode = 1;
}
