import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT, repositoryFiles } from './workspace.ts';

const files = repositoryFiles();

/** A file of one idea has a name of its own; these names gather what has no home. */
const SHAPELESS = /^(utils?|helpers?|managers?|misc|common)([.-]|$)|[.-](utils?|helpers?|managers?|misc)\./;

/** Addresses of package registries, in lockfiles or settings, tie the repository to one network. */
const REGISTRY = /registry\.[a-z]+\.(org|com)|"resolved": *"https?:\/\/|tarball: *https?:\/\//i;

describe('file names', () => {
  test('say what the file holds', () => {
    expect(files.filter((path) => SHAPELESS.test(basename(path)))).toEqual([]);
  });

  test.each(['utils.ts', 'date-helpers.ts', 'misc.ts', 'task-manager.ts', 'util.test.ts'])(
    '%s would be refused',
    (name) => {
      expect(name).toMatch(SHAPELESS);
    },
  );

  test.each(['managed-processes.ts', 'utilisation.ts'])('%s would not', (name) => {
    expect(name).not.toMatch(SHAPELESS);
  });
});

describe('registry addresses', () => {
  test('stand in no file', () => {
    const text = files.filter((path) => !/\.(png|ico|woff2|gz)$/.test(path));
    expect(text.filter((path) => REGISTRY.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  });

  test('would be found in a lockfile', () => {
    expect(`https://${'registry'}.example.org/x/-/x-1.tgz`).toMatch(REGISTRY);
    expect(`    resolution: {${'tarball'}: https://host/x.tgz}`).toMatch(REGISTRY);
    expect('    resolution: {integrity: sha512-AAAA==}').not.toMatch(REGISTRY);
  });
});
