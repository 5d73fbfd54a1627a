import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { cliOn } from './cli.ts';

const cli = cliOn(() => undefined);

/** Returns whether a shell is installed here. */
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

/** Programs with which each shell shows the words that the completion offers for the last word of a line. */
const SHELLS = {
  // Outside of a widget compadd does not work: its place takes a function that prints what it is given.
  zsh: (words: readonly string[]) =>
    [
      'autoload -Uz compinit; compinit -u -D; compadd() { print -l -- $@[2,-1] }; eval "$(cat)"',
      `words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; _pipeline`,
    ].join('\n'),
  fish: (words: readonly string[]) => `cat | source; complete -C '${words.join(' ')}'`,
};
const FLAGS = { zsh: '-f', fish: '--no-config' };

describe.each(['zsh', 'fish'] as const)('the completion of %s', (shell) => {
  test('prints a script that the shell accepts, where it is installed', async () => {
    const { code, stdout } = await cli.run(['completion', shell]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('admin worker-token')]);
    if (!has(shell)) return;
    const folder = mkdtempSync(join(tmpdir(), 'completion-'));
    writeFileSync(join(folder, 'script'), stdout);
    const { stderr } = spawnSync(shell, ['-n', join(folder, 'script')], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(stderr).toBe('');
  });

  (has(shell) ? test : test.skip).each([
    ['commands', ['pipeline', ''], 'login'],
    ['commands of a group', ['pipeline', 'admin', 'org', ''], 'create'],
    ['options', ['pipeline', 'issues', 'acme/shop', '--'], '--state'],
  ])('offers %s', async (_what, line, wanted) => {
    const { stdout: input } = await cli.run(['completion', shell]);
    const run = spawnSync(shell, [FLAGS[shell], '-c', SHELLS[shell](line)], { input, encoding: 'utf8' });
    expect([run.status, run.stderr]).toEqual([0, '']);
    expect(run.stdout.split('\n')).toContain(wanted);
    expect(run.stdout.split('\n')).not.toContain(wanted === 'create' ? 'login' : 'create');
  });
});

test('refuses another shell with 2', async () => {
  expect(await cli.run(['completion', 'tcsh'])).toMatchObject({ code: 2, stderr: expect.stringContaining('bash') });
});
