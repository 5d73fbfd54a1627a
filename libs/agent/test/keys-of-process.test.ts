import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const MAIN = join(import.meta.dirname, '../src/main.ts');

test('the environment of pipeline-agent contains no token and no key when its first line is logged', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-keys-'));
  const file = join(folder, 'key');
  writeFileSync(file, 'key-of-a-file\n', { mode: 0o600 });
  const env = {
    PATH: process.env.PATH ?? '',
    WORKER_TOKEN: 'wrk_at_of-a-variable',
    GIT_TOKEN: 'git-of-a-variable',
    ANTHROPIC_API_KEY: 'key-of-a-variable',
    OWN_KEY_FILE: file,
    OWN_KEY: '',
  };
  // The agent prints the key that it gets, and ends.
  const agent = '/bin/sh -c "echo own $OWN_KEY >&2; exit 1"';
  const args = ['--server', 'http://127.0.0.1:1', '--agent', agent, '--env', 'OWN_KEY', '--sandbox', 'none'];
  const start = (more: string[]) =>
    spawn(process.execPath, [MAIN, ...args, '--work-dir', join(folder, 'work'), ...more], { env, stdio: 'pipe' });
  const running = start(['--no-check']);
  await once(running.stdout, 'data');
  const found = readFileSync(`/proc/${running.pid}/environ`, 'utf8');
  running.kill('SIGKILL');
  await once(running, 'exit');
  expect(found).toContain('PATH=');
  expect(found).not.toMatch(/of-a-variable|of-a-file/);
  const checked = start([]);
  let printed = '';
  checked.stderr.on('data', (chunk) => {
    printed += chunk;
  });
  await once(checked, 'close');
  expect(printed).toContain('own key-of-a-file');
  rmSync(folder, { recursive: true });
});
