import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { cliOn } from './cli.ts';

const cli = cliOn(() => undefined);

/** Whether a shell is installed here. */
const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

/** The words that bash offers for the last word of a line. */
async function offered(...line: string[]): Promise<string[]> {
  const { stdout: script } = await cli.run(['completion', 'bash']);
  const words = line.map((word) => `'${word}'`).join(' ');
  const run = `${script}\nCOMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _pipeline; echo "\${COMPREPLY[*]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', run], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.trim().split(' ');
}

describe('the completion of bash', () => {
  test('offers commands, commands of a group and options', async () => {
    expect(await offered('pipeline', 'wa')).toEqual(['watch']);
    expect(await offered('pipeline', 'admin', 'org', '')).toEqual(['create', 'list', 'show', '--help']);
    expect(await offered('pipeline', 'issues', 'acme/shop', '--l')).toEqual(['--limit']);
  });

  test('takes no argument for a command', async () => {
    expect(await offered('pipeline', 'issues', 'admin', '--sta')).toEqual(['--state']);
  });
});

test.each(['zsh', 'fish'])('prints a script that %s accepts, where it is installed', async (shell) => {
  const { code, stdout } = await cli.run(['completion', shell]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('admin worker-token')]);
  if (has(shell)) expect(spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' }).stderr).toBe('');
});

test('refuses another shell with 2', async () => {
  expect(await cli.run(['completion', 'tcsh'])).toMatchObject({ code: 2, stderr: expect.stringContaining('bash') });
});
