import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_POLICY, judge } from '../src/session/permissions.ts';

const ROOT = mkdtempSync(join(tmpdir(), 'tree-'));
mkdirSync(join(ROOT, 'src'));
afterAll(() => rmSync(ROOT, { recursive: true }));

const edit = (...paths: string[]) => ({
  toolCallId: '1',
  kind: 'edit' as const,
  locations: paths.map((path) => ({ path })),
});
const execute = (command: string) => ({ toolCallId: '1', kind: 'execute' as const, rawInput: { command } });

describe('a request for a permission', () => {
  test.each([
    ['edits a file of the work tree', edit(`${ROOT}/src/a.ts`), true],
    ['edits a file that it does not name', edit(), false],
    ['edits a file outside the work tree', edit(`${ROOT}/a.ts`, `${tmpdir()}/other/a.ts`), false],
    ['edits a file of git', edit(`${ROOT}/.git/config`), false],
    ['executes a command in the work tree', execute('npm test -- src/a.ts'), true],
    ['executes a command that names a parent folder', execute('cat /home/anna/secrets'), false],
    ['fetches', { toolCallId: '1', kind: 'fetch' as const }, false],
  ])('is judged by the work tree when the tool %s', (_what, toolCall, allowed) => {
    expect(judge(DEFAULT_POLICY, ROOT, { toolCall }).allowed).toBe(allowed);
  });
});
