import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { findWorkerScope } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { hashToken } from '../../src/index.ts';

const database = testDatabase();
const run = promisify(execFile);
const COMMAND = fileURLToPath(new URL('../../src/accounts/worker-token-main.ts', import.meta.url));

/** The output of the command. @throws with `stderr` where it fails. */
async function workerToken(...args: string[]): Promise<string> {
  const env = { ...process.env, DATABASE_URL: database.url };
  const node = ['--disable-warning=ExperimentalWarning', COMMAND];
  return (await run(process.execPath, [...node, ...args], { env })).stdout.trim();
}

const isLive = async (token: string): Promise<boolean> =>
  (await findWorkerScope(database.store.db, hashToken(token))) !== null;

test('creates worker tokens and revokes those of one name', async () => {
  const [first, second, other] = [
    await workerToken('--name', 'build'),
    await workerToken('--name', 'build'),
    await workerToken('--name', 'build', '--tenant', 'acme'),
  ];
  expect(first).toMatch(/^wrk_at_[\w-]{43}$/);
  expect(await isLive(first)).toBe(true);
  expect(await workerToken('--name', 'build', '--revoke')).toBe('2 revoked');
  expect(await Promise.all([first, second, other].map(isLive))).toEqual([false, false, true]);
});

test('creates a token that is refused after the given time', async () => {
  const token = await workerToken('--name', 'short', '--expires', '2h');
  expect(await isLive(token)).toBe(true);
  database.clock.now = new Date(Date.now() + 2 * 3_600_000);
  expect(await isLive(token)).toBe(false);
  database.clock.now = null;
  const failure = { code: 1, stderr: expect.stringContaining('--expires must be in the future') };
  await expect(workerToken('--name', 'short', '--expires', '2020-01-01')).rejects.toMatchObject(failure);
});

test('reports when no token has the name to revoke', async () => {
  const failure = { code: 1, stderr: expect.stringContaining('no live worker token named "nobody"') };
  await expect(workerToken('--name', 'nobody', '--revoke')).rejects.toMatchObject(failure);
});

test.each([
  ['2 when the arguments are wrong', ['--nonsense'], {}, 2],
  ['2 when the name is missing', [], {}, 2],
  ['78 when DATABASE_URL is not set', ['--name', 'x'], { DATABASE_URL: '' }, 78],
  ['78 when DATABASE_URL is no postgres address', ['--name', 'x'], { DATABASE_URL: 'mysql://x/y' }, 78],
  ['69 when the database cannot be reached', ['--name', 'x'], { DATABASE_URL: 'postgres://x@127.0.0.1:1/x' }, 69],
])('the command ends with %s', async (_what, args, env, code) => {
  const node = ['--disable-warning=ExperimentalWarning', COMMAND, ...args];
  await expect(run(process.execPath, node, { env: { ...process.env, ...env } })).rejects.toMatchObject({
    code,
    stderr: expect.stringMatching(/\S/),
  });
});
