import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type EnvError, parseEnv, withSecretFiles } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'secret-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe('withSecretFiles', () => {
  test.each([
    ['a line break at the end is not part of the secret', 'hunter2\n', 'hunter2'],
    ['nor is one of Windows', 'hunter2\r\n', 'hunter2'],
    ['spaces and inner line breaks are', ' a\nb \n', ' a\nb '],
  ])('%s', (_, text, secret) => {
    expect(withSecretFiles({ TOKEN_FILE: file('token', text) })).toMatchObject({ TOKEN: secret });
  });

  test('prefers a variable that is set, and uses the file of one that is empty', () => {
    const TOKEN_FILE = file('token', 'from the file');
    expect(withSecretFiles({ TOKEN: 'set', TOKEN_FILE }).TOKEN).toBe('set');
    expect(withSecretFiles({ TOKEN: '', TOKEN_FILE }).TOKEN).toBe('from the file');
  });

  test.each([
    ['is missing', 'missing'],
    ['is a folder', '.'],
  ])('reports a file that %s, where its variable is required', (_, name) => {
    const path = join(folder, name);
    const parse = () =>
      parseEnv(z.object({ TOKEN: z.string() }), withSecretFiles({ TOKEN_FILE: path, OTHER_FILE: path }));
    expect(problemsOf(parse)).toEqual([
      `TOKEN: must be set (TOKEN_FILE names ${path}, which is empty or cannot be read)`,
    ]);
  });
});

function problemsOf(parse: () => unknown): readonly string[] {
  try {
    parse();
    return [];
  } catch (error) {
    return (error as EnvError).problems;
  }
}
