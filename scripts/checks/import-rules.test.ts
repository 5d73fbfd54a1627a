import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ALLOWED, importBreaches, type WorkspacePackage } from './import-rules.ts';
import { importsOf, ROOT, readPackages } from './workspace.ts';

function pkg(name: string, files: Record<string, string[]>, dependencies: string[] = []): WorkspacePackage {
  return { name, dependencies, files: Object.entries(files).map(([path, imports]) => ({ path, imports })) };
}

describe('this repository', () => {
  const packages = readPackages();

  test('keeps the import rules', () => {
    expect(importBreaches(packages)).toEqual([]);
  });

  test('documents the rules in docs/architecture.md', () => {
    const [, table = ''] = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8').split('| package | may import |');
    const rows = (table.split('\n\n')[0] ?? '').split('\n').slice(2);
    const documented = rows.flatMap((row) => {
      const [packages = '', allowed = ''] = row
        .split('|')
        .slice(1)
        .map((cell) => cell.trim());
      return packages.split(', ').map((name) => [name, allowed === 'nothing' ? [] : allowed.split(', ')] as const);
    });
    expect(Object.fromEntries(documented)).toEqual(ALLOWED);
  });

  test('is really read: the packages and their imports are there', () => {
    expect(packages.length).toBeGreaterThanOrEqual(13);
    const store = packages.find(({ name }) => name === 'store');
    expect(store?.files.flatMap(({ imports }) => imports)).toEqual(
      expect.arrayContaining(['kysely', '@pipeline/domain']),
    );
  });
});

describe('refused', () => {
  test.each([
    ['an upward import', pkg('domain', { 'src/a.ts': ['@pipeline/store'] }), 'domain may not know store'],
    [
      'an upward import of a subpath',
      pkg('store', { 'src/a.ts': ['@pipeline/engine/x'] }),
      'store may not know engine',
    ],
    [
      'a service that imports the other',
      pkg('monitor', { 'src/a.ts': ['@pipeline/hosted-api'] }),
      'nobody imports a service',
    ],
    [
      'a test that imports a service',
      pkg('store', { 'test/a.test.ts': ['@pipeline/monitor'] }),
      'nobody imports a service',
    ],
    ['testing in a source', pkg('store', { 'src/a.ts': ['@pipeline/testing'] }), 'testing is for tests'],
    [
      'a relative way out',
      pkg('store', { 'src/a.ts': ['../../domain/src/index.ts'] }),
      'a relative import ends at its package',
    ],
    ['itself by name', pkg('store', { 'src/a.ts': ['@pipeline/store'] }), 'a package does not import itself by name'],
    ['SQL in a service', pkg('monitor', { 'src/routes/a.ts': ['kysely'] }), 'SQL belongs to libs/store'],
    [
      'the sandbox host in a service',
      pkg('monitor', { 'src/a.ts': ['@pipeline/sandbox-host'] }),
      'monitor may not know sandbox-host',
    ],
    ['Express in the engine', pkg('engine', { 'src/a.ts': ['express'] }), 'HTTP belongs to libs/http'],
    ['GitHub in the engine', pkg('engine', { 'src/a.ts': ['@octokit/rest'] }), 'GitHub belongs to libs/vcs'],
  ])('%s', (_, breaking, reason) => {
    const [first] = breaking.files;
    expect(importBreaches([breaking])).toEqual([
      `${breaking.name}/${first?.path} imports ${first?.imports[0]}: ${reason}`,
    ]);
  });

  test('a dependency that the table does not allow', () => {
    expect(importBreaches([pkg('domain', {}, ['store'])])).toEqual([
      'domain/package.json: store is not among the dependencies that domain may have',
    ]);
  });

  test('a package without a line in the table', () => {
    expect(importBreaches([pkg('misfit', {})])).toEqual(['misfit has no line in the table of allowed imports']);
  });

  test('a cycle, named once', () => {
    const cycle = [
      pkg('vcs', { 'src/a.ts': ['@pipeline/runtime'] }),
      pkg('runtime', { 'src/a.ts': ['@pipeline/vcs'] }),
    ];
    expect(importBreaches(cycle)).toContain('cycle: runtime -> vcs -> runtime');
    expect(importBreaches(cycle).filter((line) => line.startsWith('cycle'))).toHaveLength(1);
  });
});

describe('accepted', () => {
  test.each([
    ['a downward import', pkg('engine', { 'src/a.ts': ['@pipeline/store', 'node:crypto', './b.ts'] })],
    [
      'testing and higher layers in a test',
      pkg('store', { 'test/a.test.ts': ['@pipeline/testing', '@pipeline/engine', 'kysely'] }),
    ],
    ['a service in a test of the stack', pkg('stack', { 'test/a.test.ts': ['@pipeline/monitor'] })],
    ['testing in an end-to-end run', pkg('stack', { 'e2e/a.ts': ['@pipeline/testing'] })],
    ['testing in a test beside its source', pkg('domain', { 'src/a.test.ts': ['@pipeline/testing'] })],
    ['a relative import inside the package', pkg('store', { 'src/x/a.ts': ['../../test/b.ts'] })],
  ])('%s', (_, fine) => {
    expect(importBreaches([fine])).toEqual([]);
  });
});

test('imports are found in every form', () => {
  const source = `
    import a from 'a'; import type { B } from 'b'; export { c } from 'c'; export * from 'd'; import 'e';
    export const late = async (): Promise<unknown> => import('f');
    const text = "import x from 'not-an-import'";
  `;
  expect(importsOf(source).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});
