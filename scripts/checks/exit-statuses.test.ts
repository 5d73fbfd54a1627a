import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');

/** The statuses that `--help` of a command lists after "Exit status:". */
function statusesInHelp(file: string): number[] {
  const args = ['--disable-warning=ExperimentalWarning', join(root, file), '--help'];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH: process.env.PATH } });
  expect(status).toBe(0);
  const [, listed = ''] = /\nExit status: ([\s\S]*?)\.\n/.exec(stdout) ?? [];
  return [...listed.matchAll(/(?:^|, )(\d+) /g)].map(([, digits]) => Number(digits));
}

/** The statuses in the row of docs/operations.md. */
function statusesInDocs(name: string): number[] {
  const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
  return [...row.matchAll(/(?:\| |, )(\d+) /g)].map(([, digits]) => Number(digits));
}

test.each([
  ['pipeline', 'libs/cli/src/main.ts', [0, 1, 2, 69, 70, 77, 78]],
  ['migrate', 'libs/store/src/schema/migrate-main.ts', [0, 1, 2, 78]],
  ['pipeline-worker', 'libs/worker/src/main.ts', [0, 1, 2, 78]],
  ['pipeline-agent', 'libs/agent/src/main.ts', [0, 1, 2, 78]],
  ['npm start', 'libs/stack/src/main.ts', [0, 1, 2, 78]],
  ['npm run connect', 'libs/stack/src/connect-main.ts', [0, 1, 2]],
])('lists the exit statuses of %s in its help and in the documents', (name, file, statuses) => {
  expect([statusesInHelp(file), statusesInDocs(name)]).toEqual([statuses, statuses]);
});
