import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const MAIN = join(import.meta.dirname, '../src/main.ts');

const run = (...args: string[]) =>
  spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], { encoding: 'utf8', env: {} });

test.each([
  ['no target', [], 2, '--hosted or --monitor is needed'],
  ['an unknown endpoint', ['--monitor', 'http://127.0.0.1:9', '--only', 'nope'], 2, 'no endpoint is named nope'],
  ['an unknown suite', ['--suite', 'all'], 2, "argument 'all' is invalid"],
  ['a repo without a slash', ['--write', 'shop'], 2, 'must be a repo, owner/name'],
  ['a client without a secret', ['--hosted', 'http://127.0.0.1:9', '--client-id', 'ci_1'], 2, 'PIPELINE_CLIENT_SECRET'],
  [
    'a login without a password',
    ['--hosted', 'http://127.0.0.1:9', '--login-email', 'ann@example.org'],
    2,
    'PIPELINE_LOGIN_PASSWORD',
  ],
  [
    'an operator without a password',
    ['--monitor', 'http://127.0.0.1:9', '--user', 'operator'],
    2,
    '--user needs a password in MONITOR_PASSWORD',
  ],
  ['a target that does not answer', ['--monitor', 'http://127.0.0.1:9', '--suite', 'answers'], 78, '/health'],
])('ends with its exit status and the reason for %s', (_what, args, status, reason) => {
  const ended = run(...args);
  expect(ended.stderr).toContain(reason);
  expect(ended.status).toBe(status);
});
