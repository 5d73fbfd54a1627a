import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT, repositoryFiles } from './workspace.ts';

const files = repositoryFiles();
const sources = files.filter((path) => /\.(tsx?|mjs)$/.test(path) && !path.includes('.generated.'));

/** A file of one idea has a name of its own; these names gather what has no home. */
const SHAPELESS = /^(utils?|helpers?|managers?|misc|common)([.-]|$)|[.-](utils?|helpers?|managers?|misc)\./;

/** Addresses of package registries, in lockfiles or settings, tie the repository to one network. */
const REGISTRY = /registry\.[a-z]+\.(org|com)|"resolved": *"https?:\/\/|tarball: *https?:\/\//i;

function lines(path: string): number {
  return readFileSync(join(ROOT, path), 'utf8').split('\n').length - 1;
}

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

describe('file sizes', () => {
  const sizes = sources.filter((path) => !path.includes('.test.')).map((path) => ({ path, length: lines(path) }));
  const sorted = sizes.map(({ length }) => length).sort((a, b) => a - b);
  const longer = (than: number): string[] =>
    sizes.filter(({ length }) => length > than).map(({ path, length }) => `${path}: ${length}`);

  test('half of the source files have 80 lines or fewer, nine of ten 220 or fewer', () => {
    expect(sorted[Math.floor(sorted.length * 0.5)]).toBeLessThanOrEqual(80);
    expect(sorted[Math.floor(sorted.length * 0.9)]).toBeLessThanOrEqual(220);
  });

  test('no source file has more than 400 lines', () => {
    if (longer(300).length > 0) process.stderr.write(`over 300 lines, split them by idea: ${longer(300).join(', ')}\n`);
    expect(longer(400)).toEqual([]);
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
