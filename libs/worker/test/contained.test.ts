import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const SOURCE = join(import.meta.dirname, '../src/exec/contained.ts');

/** Prints how many of 60 programs were started, and the errors of the others. */
const SCRIPT = `
import { ContainedProcess } from '${SOURCE}';
const launch = { command: ['sleep', '1'], env: { PATH: '/usr/bin:/bin' }, inputs: ['text'], isNamespace: false };
const all = Array.from({ length: 60 }, () => new ContainedProcess(launch, 'pipe'));
const ends = await Promise.allSettled(all.map(({ ended }) => ended));
await Promise.all(all.map((each) => each.drained()));
const errors = ends.flatMap(({ reason }) => (reason === undefined ? [] : [reason.code]));
console.log(JSON.stringify({ hasStarted: errors.length < all.length, errors: [...new Set(errors)] }));`;

test('the process of the worker outlives programs that cannot be started when it has no free descriptor', () => {
  const limited = ['-c', 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, SCRIPT];
  const { stdout, stderr } = spawnSync('/bin/sh', limited, { encoding: 'utf8' });
  expect(stderr).not.toContain('Error');
  expect(JSON.parse(stdout)).toEqual({ hasStarted: true, errors: ['EMFILE'] });
});
