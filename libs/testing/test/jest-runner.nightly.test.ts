import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const CLOSING = join(ROOT, 'libs/testing/src/processes/closing.ts');

interface Outcome {
  name: string;
  message: string;
  assertionResults: { title: string; status: string; failureMessages: string[] }[];
}

const usesHelper = `
  import { hooked } from './helper.mts';
  const seen = hooked();
  test('runs the hook of the helper', () => expect(seen).toEqual(['beforeAll']));`;

const changesWhatAllShare = `
  test('finds it as it was', async () => {
    expect(process.env.LEFT_BEHIND).toBeUndefined();
    expect(process.exitCode).toBeUndefined();
    expect(Date.now()).toBeGreaterThan(0);
    expect(process.getBuiltinModule('module')).toBe((await import('node:module')).default);
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
  test('changes it', () => {
    process.env.LEFT_BEHIND = 'yes';
    process.exitCode = 3;
    jest.spyOn(Date, 'now').mockReturnValue(0);
    jest.useFakeTimers();
  });
  jest.setTimeout(10_000);`;

/** Sources of test files; all run in one process. */
const FILES: Record<string, string> = {
  'shares-1': changesWhatAllShare,
  'shares-2': changesWhatAllShare,
  'helper-1': usesHelper,
  'helper-2': usesHelper,
  fails: `
    test('passes', () => expect(1).toBe(1));
    test('fails', () => {
      expect(1).toBe(2);
    });
    test.each([1, 2])('%i is one', (n) => expect(n).toBe(1));
    test.skip('is skipped', () => {});
    test.todo('is to do');`,
  hangs: `
    test('hangs', () => new Promise(() => {}));
    test('goes on', () => {});`,
  'before-all': `
    beforeAll(() => Promise.reject(new Error('no stage')));
    test('does not run', () => {});`,
  'after-all': `
    afterAll(() => Promise.reject(new Error('left open')));
    test('is fine itself', () => {});`,
  timer: `
    test('throws in a timer', async () => {
      setTimeout(() => { throw new Error('from a timer'); }, 1);
      await new Promise((resolve) => setTimeout(resolve, 50));
    });`,
  rejection: `
    test('leaves a rejection', async () => {
      void Promise.reject(new Error('nobody listens'));
      await new Promise((resolve) => setTimeout(resolve, 50));
    });`,
  'left-open': `
    import { createServer } from 'node:http';
    import { closedWithFile } from ${JSON.stringify(CLOSING)};
    test('fails before it closes its server', async () => {
      const server = createServer();
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
      closedWithFile(() => new Promise((resolve) => server.close(resolve)));
      throw new Error('too early');
    });`,
  syntax: `test('is not closed', () => {`,
  'no-such-file': `import './gone.mts';`,
  'no-such-export': `import { gone } from './helper.mts'; gone();`,
  throws: `
    test('has no effect', () => {});
    throw new Error('while loading');`,
  empty: '',
};

const HELPER = `
  import { beforeAll } from '@jest/globals';
  export function hooked() {
    const seen = [];
    beforeAll(() => void seen.push('beforeAll'));
    return seen;
  }`;

let folder: string;
const outcomes = new Map<string, Outcome>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jest-runner-'));
  await writeFile(join(folder, 'helper.mts'), HELPER);
  const globals = "import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';";
  for (const [name, source] of Object.entries(FILES))
    await writeFile(join(folder, `${name}.case.mts`), globals + source);
  const report = join(folder, 'report.json');
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }; // of files that are never seen again
  const own = ['node_modules/jest/bin/jest.js', `--roots=${folder}`, '--testMatch=**/*.case.mts', '--testTimeout=300'];
  await new Promise((resolve) => {
    execFile(
      process.execPath,
      [...own, '--runInBand', '--json', `--outputFile=${report}`],
      { cwd: ROOT, env },
      resolve,
    );
  });
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as { testResults: Outcome[] };
  for (const outcome of testResults) outcomes.set(outcome.name.slice(folder.length + 1, -'.case.mts'.length), outcome);
});

afterAll(() => rm(folder, { recursive: true }));

test.each([
  ['shares-1', ['passed finds it as it was', 'passed changes it']],
  ['shares-2', ['passed finds it as it was', 'passed changes it']],
  ['helper-1', ['passed runs the hook of the helper']],
  ['helper-2', ['passed runs the hook of the helper']],
  [
    'fails',
    ['passed passes', 'failed fails', 'passed 1 is one', 'failed 2 is one', 'pending is skipped', 'todo is to do'],
  ],
  ['hangs', ['failed hangs', 'passed goes on']],
  ['before-all', ['failed does not run']],
  ['after-all', ['passed is fine itself']],
  ['timer', ['failed throws in a timer']],
  ['rejection', ['failed leaves a rejection']],
  // That there is an outcome at all: an open server would keep the process, and this file would wait for it.
  ['left-open', ['failed fails before it closes its server']],
])('%s: what each test came to', (name, expected) => {
  const tests = outcomes.get(name)?.assertionResults ?? [];
  expect(tests.map(({ status, title }) => `${status} ${title}`)).toEqual(expected);
});

test.each([
  ['fails', /at .*\((?!file:)[^()]*fails\.case\.mts:4:17\)/],
  ['hangs', /Exceeded timeout of 300 ms for a test[\s\S]*hangs\.case\.mts:2:5/],
  ['before-all', /no stage[\s\S]*before-all\.case\.mts:2:36/],
  ['after-all', /Test suite failed to run\n\n {4}left open[\s\S]*after-all\.case\.mts:2:35/],
  ['timer', /from a timer[\s\S]*timer\.case\.mts:3:32/],
  ['rejection', /nobody listens[\s\S]*rejection\.case\.mts:3:27/],
  ['syntax', /Test suite failed to run\n\n.*syntax\.case\.mts/],
  ['no-such-file', /Cannot find module '.*gone\.mts' imported from .*no-such-file\.case\.mts\n$/],
  ['no-such-export', /does not provide an export named 'gone'/],
  ['throws', /while loading[\s\S]*throws\.case\.mts:3:11/],
  ['empty', /must contain at least one test/],
])('%s: its report', (name, expected) => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  expect(outcomes.get(name)?.message.replace(/\u001b\[\d+m/g, '')).toMatch(expected);
});

test('every file has its outcome', () => expect([...outcomes.keys()].sort()).toEqual(Object.keys(FILES).sort()));

test('counts the lines that tests ran when coverage is collected', async () => {
  const coverage = join(folder, 'coverage');
  const argv = ['node_modules/jest/bin/jest.js', 'libs/domain/src/slugs.test.ts', '--coverage'];
  await promisify(execFile)(
    process.execPath,
    [...argv, '--coverageReporters=json-summary', `--coverageDirectory=${coverage}`],
    { cwd: ROOT },
  );
  const summary = JSON.parse(await readFile(join(coverage, 'coverage-summary.json'), 'utf8'));
  const file = Object.keys(summary).find((path) => path.endsWith('libs/domain/src/slugs.ts')) ?? '';
  expect(summary[file].lines).toMatchObject({ total: expect.any(Number), pct: expect.any(Number) });
  expect(summary[file].lines.pct).toBeGreaterThan(50);
  expect(summary[file].lines.pct).toBeLessThan(100);
  expect(Object.keys(summary).filter((path) => path.includes('node_modules') || path.endsWith('.test.ts'))).toEqual([]);
});
