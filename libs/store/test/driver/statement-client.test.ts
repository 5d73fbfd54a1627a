import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';

const database = testDatabase();
const RESULT_OCTETS = 20_000;
const PROGRAM = join(import.meta.dirname, 'fixtures/promoted-octets.ts');
/** While V8 marks the heap in steps, minor collections promote what they would free otherwise. */
const FLAGS = ['--disable-warning=ExperimentalWarning', '--expose-gc', '--no-incremental-marking'];

test('a result that is not referenced is freed by a minor collection', async () => {
  const argv = [...FLAGS, PROGRAM, database.url, String(RESULT_OCTETS)];
  const { stdout } = await promisify(execFile)(process.execPath, argv);
  expect(Number(stdout)).toBeLessThan(RESULT_OCTETS / 3);
});
