import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defaultWorkDir } from '../src/options.ts';
import { makeWorkFolder } from '../src/work-folder.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'work-folder-'));
});
afterEach(() => rmSync(root, { recursive: true }));
const asRoot = process.getuid?.() === 0 ? test : test.skip;
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('the default work folder', () => {
  test('takes wider rights away when the folder or its parent exists', () => {
    const path = join(root, 'pipeline-agent-0/worker');
    mkdirSync(dirname(path));
    chmodSync(dirname(path), 0o777);
    makeWorkFolder(path, true);
    expect([path, dirname(path)].map(modeOf)).toEqual(['700', '700']);
  });

  test('throws when it is a link', () => {
    mkdirSync(join(root, 'other'));
    symlinkSync('other', join(root, 'parent'));
    expect(() => makeWorkFolder(join(root, 'parent/worker'), true)).toThrow('parent is a link');
  });

  asRoot('throws when its parent belongs to another user', () => {
    mkdirSync(join(root, 'parent'));
    chownSync(join(root, 'parent'), 65_534, 65_534);
    expect(() => makeWorkFolder(join(root, 'parent/worker'), true)).toThrow('belongs to another user (65534)');
  });

  test('names its user, and no worker name leads out of it', () => {
    expect(defaultWorkDir('pipeline-agent', '../..')).toBe(
      join(tmpdir(), `pipeline-agent-${process.getuid?.()}`, '--..'),
    );
  });
});
