/** Each lint rule of the house is seen to fire, and to be silent where the house allows what it refuses elsewhere. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ROOT } from './workspace.ts';

const exiting = 'export const end = () => process.exit(1);\n';
const environment = 'export const home = process.env.HOME;\n';
const waiting = 'export const wait = (f: () => void) => setTimeout(f, 1);\n';
const printing = "export const say = () => console.log('x');\n";

const refused: Record<string, readonly [rule: string, source: string]> = {
  'libs/a/src/exit.ts': ['plugin', exiting],
  'libs/a/src/imported-exit.ts': [
    'noRestrictedImports',
    "import { exit } from 'node:process';\nexport const e = exit;\n",
  ],
  'services/a/src/environment.ts': ['noProcessEnv', environment],
  'services/a/src/wait.ts': ['noRestrictedGlobals', waiting],
  'libs/a/src/timers.ts': ['noRestrictedImports', "export { setTimeout } from 'node:timers/promises';\n"],
  'services/a/src/print.ts': ['noConsole', printing],
  'libs/a/src/any.ts': ['noExplicitAny', 'export const a: any = 1;\n'],
  'libs/a/src/non-null.ts': ['noNonNullAssertion', 'export const a = (b?: string) => b!.length;\n'],
  'libs/a/src/five.ts': [
    'useMaxParams',
    'export const f = (a = 1, b = 1, c = 1, d = 1, e = 1) => a + b + c + d + e;\n',
  ],
  'libs/a/src/long.ts': ['noExcessiveLinesPerFunction', `export function f() {\n${'  f();\n'.repeat(61)}}\n`],
  'libs/a/src/camelCase.ts': ['useFilenamingConvention', 'export const a = 1;\n'],
  'libs/a/test/only.test.ts': ['noFocusedTests', "test.only('x', () => {});\n"],
  'libs/a/test/skip.test.ts': ['noSkippedTests', "test.skip('x', () => {});\n"],
};

const allowed: Record<string, string> = {
  'libs/runtime/src/process.ts': exiting + waiting,
  'services/a/src/main.ts': environment,
  'scripts/print.mjs': printing,
};

const folder = mkdtempSync(join(tmpdir(), 'lint-rules-'));

beforeAll(() => {
  const sources = Object.entries(refused).map(([path, [, source]]) => [path, source] as const);
  for (const [path, source] of [...sources, ...Object.entries(allowed)]) put(path, source);
  for (const path of ['biome.json', '.oxlintrc.json', '.gitignore', 'scripts/checks/no-process-exit.grit']) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(ROOT, path), join(folder, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function put(path: string, source: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), source);
}

function run(tool: string, ...args: string[]): string {
  const { stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin', tool), args, { cwd: folder, encoding: 'utf8' });
  return stdout + stderr;
}

describe('Biome', () => {
  const findings = (): string[] =>
    run('biome', 'lint', '--reporter=github', '--max-diagnostics=200', '.')
      .split('\n')
      .filter((line) => line.startsWith('::'));
  let found: string[] = [];

  beforeAll(() => {
    found = findings();
  });

  test.each(Object.entries(refused).map(([path, [rule]]) => [path, rule]))('%s: %s', (path, rule) => {
    expect(found.filter((line) => line.includes(`/${path},`)).join()).toContain(rule);
  });

  test.each(Object.keys(allowed))('%s is fine', (path) => {
    expect(found.filter((line) => line.includes(`/${path},`))).toEqual([]);
  });
});

describe('the promise rules, which need types', () => {
  beforeAll(() => {
    writeFileSync(join(folder, 'tsconfig.json'), '{"compilerOptions":{"strict":true},"include":["promises"]}');
    put('promises/other.ts', 'export class Pool { async query(text: string) { return text; } }\n');
    put('promises/floating.ts', "import { Pool } from './other';\nnew Pool().query('select 1');\n");
    put('promises/misused.ts', 'export const all = (f: () => Promise<void>) => [1].forEach(f);\n');
    put('promises/condition.ts', 'export const is = (f: () => Promise<boolean>) => (f() ? 1 : 2);\n');
  });

  test.each([
    ['floating.ts', 'no-floating-promises'],
    ['misused.ts', 'no-misused-promises'],
    ['condition.ts', 'no-misused-promises'],
  ])('%s: %s', (file, rule) => {
    expect(run('oxlint', '--type-aware', '--format=unix', `promises/${file}`)).toContain(rule);
  });
});
