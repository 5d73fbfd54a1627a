import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';

const MAIN = new URL('../e2e/main.ts', import.meta.url).pathname;

/** Runs the program with arguments that end it before the first check. */
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );

describe('npm run e2e', () => {
  test('prints its usage for --help', async () => {
    const { code, stdout, stderr } = await run('--help');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Usage: npm run e2e -- [options] [check...]');
    expect(stdout).toContain('restart, journey, crash');
  });

  test.each([
    [['--minutes', 'soon'], 'must be a number above 0'],
    [['journy'], 'journy: the checks are restart, journey'],
  ])('refuses %j without a stack trace', async (args, message) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('    at ');
  });
});
