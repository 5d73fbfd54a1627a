import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { makeFolder } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'make-folder-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('makes the folder and those above it, and nothing when it is there', () => {
  const deep = join(folder, 'a/b/c');
  makeFolder(deep);
  makeFolder(deep);
  expect(statSync(deep).isDirectory()).toBe(true);
});

test.each(['/proc/pipeline', '/proc/pipeline/deep/er'])('throws when nothing can be made there: %s', (path) => {
  expect(() => makeFolder(path)).toThrow(/ENOENT|EACCES|EPERM/);
});

test('throws when the path or one above it is a file', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow('is not a folder');
  expect(() => makeFolder(join(file, 'below'))).toThrow(/ENOTDIR|is not a folder/);
});
