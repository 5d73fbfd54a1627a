import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installedPackage } from '@pipeline/testing/installed-package';

const folder = mkdtempSync(join(tmpdir(), 'contract-package-'));
afterAll(() => rmSync(folder, { recursive: true }));

// The commands of docs/contract-tests.md: npm install --global pipeline-contract-tests-0.1.0.tgz
let project = '';
beforeAll(() => {
  project = installedPackage('contract-tests', folder);
});

test('the package installs alone, without source maps', () => {
  const modules = join(project, 'node_modules');
  expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['@pipeline']);
  expect(readdirSync(join(modules, '@pipeline/contract-tests')).sort()).toEqual(
    ['LICENSE', 'README.md', 'bin', 'package.json'].sort(),
  );
});

test('its program ends with status 78 and names the target when that does not answer', () => {
  const program = join(project, 'node_modules/.bin/pipeline-contract');
  const run = spawnSync(program, ['--monitor', 'http://127.0.0.1:9', '--user', 'operator'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, MONITOR_PASSWORD: 'p' },
  });
  expect(run).toMatchObject({ status: 78, stderr: expect.stringContaining('http://127.0.0.1:9') });
});

test('its program prints which Node it needs when it runs under an older one', () => {
  const older = join(folder, 'older-node.cjs');
  const versions = `{ ...process.versions, node: '20.19.5' }`;
  writeFileSync(older, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  const program = join(project, 'node_modules/.bin/pipeline-contract');
  const run = spawnSync(process.execPath, ['--require', older, program, '--version'], { encoding: 'utf8' });
  expect(run.stderr).toBe('pipeline-contract needs Node 22 or later; this is Node 20.19.5\n');
  expect(run.status).toBe(78);
});
