import { describe, expect, test } from '@jest/globals';
import { arrowBreaches, crowdedFolders, deepChains, fileCycles } from './capabilities.ts';
import { CAPABILITY_ARROWS } from './capability-arrows.ts';
import type { WorkspacePackage } from './import-rules.ts';
import { readPackages, repositoryFiles } from './workspace.ts';

const MAX_FILES_PER_FOLDER = 25;
const MAX_IMPORT_CHAIN = 8;

function pkg(files: Record<string, string[]>): WorkspacePackage {
  const sources = Object.entries(files).map(([path, imports]) => ({ path, imports }));
  return { name: 'engine', dependencies: [], files: sources };
}

describe('this repository', () => {
  const packages = readPackages();

  test('imports between capability folders only along the listed arrows', () => {
    expect(packages.flatMap((each) => arrowBreaches(each, CAPABILITY_ARROWS[each.name] ?? {}))).toEqual([]);
  });

  test('has no cycle of imports between files, type imports included', () => {
    expect(packages.flatMap(fileCycles)).toEqual([]);
  });

  test(`has no chain of imports of more than ${MAX_IMPORT_CHAIN} files inside a package`, () => {
    expect(packages.flatMap((each) => deepChains(each, MAX_IMPORT_CHAIN))).toEqual([]);
  });

  test(`has no folder of more than ${MAX_FILES_PER_FOLDER} files`, () => {
    const files = repositoryFiles().filter((path) => !path.startsWith('docs/decisions/'));
    expect(crowdedFolders(files, MAX_FILES_PER_FOLDER)).toEqual([]);
  });
});

test('reports an arrow that is not listed, with the import behind it', () => {
  const files = pkg({ 'src/queue/claim.ts': ['../costs/budgets.ts'], 'src/costs/budgets.ts': [] });
  expect(arrowBreaches(files, {})).toEqual([
    'engine: queue may not import costs (src/queue/claim.ts imports src/costs/budgets.ts)',
  ]);
  expect(arrowBreaches(files, { queue: ['costs'] })).toEqual([]);
});

test('reports a listed arrow that no import needs', () => {
  expect(arrowBreaches(pkg({ 'src/queue/claim.ts': [] }), { queue: ['costs'] })).toEqual([
    'engine: the arrow queue -> costs is listed and has no import',
  ]);
});

test('reports a cycle of listed arrows', () => {
  const files = pkg({ 'src/queue/a.ts': ['../costs/b.ts'], 'src/costs/b.ts': ['../queue/c.ts'], 'src/queue/c.ts': [] });
  expect(arrowBreaches(files, { queue: ['costs'], costs: ['queue'] })).toEqual([
    'engine: cycle costs -> queue -> costs',
  ]);
});

test('leaves out the entry of the package and its tests', () => {
  const files = pkg({
    'src/index.ts': ['./queue/a.ts', './costs/b.ts'],
    'src/queue/a.ts': [],
    'src/costs/b.test.ts': ['../queue/a.ts'],
    'src/costs/b.ts': [],
  });
  expect(arrowBreaches(files, {})).toEqual([]);
});

test('reports a cycle of imports between two files once', () => {
  const files = pkg({ 'src/queue/a.ts': ['./b.ts'], 'src/queue/b.ts': ['./a.ts'] });
  expect(fileCycles(files)).toEqual(['engine: cycle src/queue/a.ts -> src/queue/b.ts -> src/queue/a.ts']);
});

test('reports a chain that is longer than the limit', () => {
  const files = pkg({ 'src/a.ts': ['./b.ts', './c.ts'], 'src/b.ts': ['./c.ts'], 'src/c.ts': [] });
  expect(deepChains(files, 3)).toEqual([]);
  expect(deepChains(files, 2)).toEqual(['engine: 3 files src/a.ts > src/b.ts > src/c.ts']);
});

test('reports a folder that holds too many files directly', () => {
  expect(crowdedFolders(['a/1.ts', 'a/2.ts', 'a/b/3.ts'], 1)).toEqual(['a: 2 files']);
});
