import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const run = promisify(execFile);

/** A start that ends by itself. @returns how. */
const ended = (args: string[]) =>
  run(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], { timeout: 60_000 }).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number | null; stderr: string }) => error,
  );

test.each([[['--frsh']], [['--workers', '0']], [['--fresh', '--database-url', 'postgres://localhost/x']]])(
  'ends with 2 when the usage is wrong: %j',
  async (args) => {
    expect(await ended(args)).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: /) });
  },
);

test('answers wrong usage in JSON when --json is given', async () => {
  const { code, stderr } = await ended(['--frsh', '--json']);
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'USAGE', message: expect.stringContaining('--frsh') } });
});

test('ends with 78 when nothing can be written at --data-dir', async () => {
  const { code, stderr } = await ended(['--json', '--data-dir', '/proc/pipeline']);
  expect(code).toBe(78);
  expect(stderr).toContain('--data-dir /proc/pipeline cannot be used');
});
