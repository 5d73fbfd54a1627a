import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { makePrivateFile, makePrivateFolder } from '../src/index.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'private-folder-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('makes a folder that only its owner can enter, whatever the umask', () => {
  const before = process.umask(0);
  try {
    expect(makePrivateFolder(join(root, 'a/b'))).toBe(true);
  } finally {
    process.umask(before);
  }
  expect(modeOf(join(root, 'a/b'))).toBe(0o700);
});

test('takes wider rights away when the folder exists', () => {
  mkdirSync(join(root, 'old/part'), { recursive: true });
  chmodSync(join(root, 'old'), 0o777);
  expect(makePrivateFolder(join(root, 'old'), (name) => name === 'part')).toBe(true);
  expect(modeOf(join(root, 'old'))).toBe(0o700);
});

test('leaves the rights of a folder that holds what is not its own', () => {
  mkdirSync(join(root, 'shared'));
  chmodSync(join(root, 'shared'), 0o755);
  writeFileSync(join(root, 'shared/notes.txt'), 'mine');
  expect(makePrivateFolder(join(root, 'shared'), (name) => name === 'part')).toBe(false);
  expect(modeOf(join(root, 'shared'))).toBe(0o755);
});

test('makes a file that only its owner can read, and keeps what an older one holds', () => {
  const path = join(root, 'state.db');
  writeFileSync(path, 'content', { mode: 0o666 });
  makePrivateFile(path);
  makePrivateFile(join(root, 'new.db'));
  expect([modeOf(path), modeOf(join(root, 'new.db')), statSync(path).size]).toEqual([0o600, 0o600, 7]);
});
