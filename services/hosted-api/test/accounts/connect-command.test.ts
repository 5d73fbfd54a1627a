import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { until } from '@pipeline/testing';
import { decide, logIn, testOauth } from '../oauth/oauth-world.ts';

const world = testOauth();
const COMMAND = join(import.meta.dirname, '../../../../libs/stack/src/connect-main.ts');

/** The command in a terminal of its own. */
function run(...args: string[]) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', COMMAND, ...args], {
    env: { PATH: process.env.PATH },
  });
  const output = { out: '', err: '' };
  child.stdout.on('data', (text) => {
    output.out += text;
  });
  child.stderr.on('data', (text) => {
    output.err += text;
  });
  return { output, ended: once(child, 'close').then(([code]) => code as number) };
}

/** Opens the address that the command shows and decides, like a person. */
async function answer({ output }: ReturnType<typeof run>, decision: 'allow' | 'deny') {
  await until('an address is shown', () => output.err.includes('/oauth/authorize?'));
  const browser = world.browser();
  await browser.open(/http:\S+/.exec(output.err)?.[0] ?? '');
  await logIn(browser, await world.person('acme'));
  await fetch(await decide(browser, decision));
}

test('`npm run connect` prints a token once a person has allowed it', async () => {
  const command = run(world.front.url);
  await answer(command, 'allow');
  expect(await command.ended).toBe(0);
  expect(command.output.out).toMatch(/^mcp_at_[\w-]{43}\n$/);
  expect(await world.call(command.output.out.trim())).toBe(200);
});

test('it says why there is no token', async () => {
  const refused = run(world.front.url);
  await answer(refused, 'deny');
  expect([await refused.ended, refused.output.out]).toEqual([1, '']);
  expect(refused.output.err).toContain('access_denied: the user refused');
  const nobody = run('http://127.0.0.1:1');
  expect([await nobody.ended, nobody.output.err.includes('could not get a token: ')]).toEqual([1, true]);
  const wrong = run();
  expect([await wrong.ended, wrong.output.err.includes('usage:')]).toEqual([2, true]);
});
