import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { identityIn, processIdentity } from '../src/data-owner.ts';

/** Returns a line of /proc as the kernel writes it; the name of the program may hold any character. */
const stat = (state: string) => `4711 (a ) Z (b) ${state} 1 4711 4711 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 11 0 98765 0 0`;

test('a process is identified by its pid and its start time', () => {
  expect(identityIn(stat('S'), 4711)).toBe('4711 98765');
});

test.each(['Z', 'X'])('a process in state %s, which still has a number, is dead', (state) => {
  expect(identityIn(stat(state), 4711)).toBeNull();
});

test('the pid identifies the process when there is no stat', () => {
  expect(identityIn('', 4711)).toBe('4711');
});

test('a process that has ended has no identity', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  expect(await processIdentity(child.pid ?? 0)).toBeNull();
});
