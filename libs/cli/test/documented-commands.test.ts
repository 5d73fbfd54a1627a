/** The commands of administrators, as the documents show them, in a shell on a database. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { COMPILE_CACHE } from '@pipeline/testing/compile-cache';
import { documentedBlock } from '@pipeline/testing/documented-block';
import { addRepo } from './rows.ts';

const ROOT = join(import.meta.dirname, '../../..');
const database = testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'documented-'));
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  const command = join(folder, 'pipeline');
  writeFileSync(
    command,
    `#!/bin/sh\nexec ${process.execPath} --disable-warning=ExperimentalWarning ${join(ROOT, 'libs/cli/src/main.ts')} "$@"\n`,
  );
  chmodSync(command, 0o755);
  await addRepo(database, 'default', 'acme/shop');
});

/** Runs commands as a reader does, with the answer to a prompt on standard input; stops at the first that fails. */
function shell(commands: string, input = '') {
  return spawnSync('bash', ['--norc', '-eo', 'pipefail', '-c', commands], {
    cwd: folder,
    input,
    encoding: 'utf8',
    env: { ...COMPILE_CACHE, PATH: `${folder}:${process.env.PATH}`, HOME: folder, DATABASE_URL: database.url },
  });
}

test.each([
  ['docs/operations.md', 'pipeline admin org create acme'],
  ['docs/connections.md', 'pipeline admin invitation create acme nora@example.org'],
  ['docs/operations.md', 'pipeline admin workflow show acme/shop > shop.yaml'],
  ['docs/operations.md', 'pipeline admin workflow plan-approval acme/shop required'],
  ['docs/operations.md', "pipeline admin price set 'our-model*'"],
])('runs the commands of %s when they begin with: %s', (document, first) => {
  expect(shell(documentedBlock(document, first), 'correct horse battery\n')).toMatchObject({ status: 0, stderr: '' });
});

test('connects and disconnects a login of a provider as documented when the user exists', () => {
  const commands = documentedBlock('docs/operations.md', 'pipeline admin user create anna@example.org --no-password');
  const done = shell(commands.replaceAll('anna@', 'otto@'));
  expect(done).toMatchObject({ status: 0, stderr: '' });
  expect(done.stdout).toContain('octocat');
});

test('fails when a documented command does not exist', () => {
  expect(shell('pipeline admin nothing\npipeline admin org list').status).toBe(2);
  expect(existsSync(join(folder, 'shop.yaml'))).toBe(true);
});
