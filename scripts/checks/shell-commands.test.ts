/** Every command that a document shows is run by a named test, or states why not. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { commandBlocks, commandDifferences, readEntries } from './shell-commands.ts';
import { ROOT, repositoryFiles } from './workspace.ts';

const documents = repositoryFiles().filter((path) => /^(README|CONTRIBUTING)\.md$|^docs\/.*\.md$/.test(path));
const inRepository = (path: string): boolean => existsSync(join(ROOT, path));

test('lists every block of commands in scripts/checks/shell-commands.json', () => {
  const blocks = documents.flatMap((path) => commandBlocks(path, readFileSync(join(ROOT, path), 'utf8')));
  expect(blocks.length).toBeGreaterThan(40);
  expect(commandDifferences(blocks, readEntries(), inRepository)).toEqual([]);
});

test('names tests that read the document or hold its first command', () => {
  const unrelated = readEntries().filter(({ document, line, test: path }) => {
    if (path === undefined) return false;
    const text = readFileSync(join(ROOT, path), 'utf8');
    return !text.includes(document) && !text.includes(line.split(/\s+#/)[0] ?? line);
  });
  expect(unrelated).toEqual([]);
});

describe('the check itself', () => {
  const document = 'docs/a.md';
  const block = { document, line: 'npm start' };

  test('finds indented and fenced blocks, in lists as well, when they name a shell or no language', () => {
    const text = '    npm start\n\n```sh\nnpm test\n```\n\n1. a\n\n       npm run x\n\n```sql\nselect 1\n```\n';
    expect(commandBlocks(document, text).map(({ line }) => line)).toEqual(['npm start', 'npm test', 'npm run x']);
  });

  test('fails when a block has no entry, also a second one with the same first line', () => {
    const entry = { ...block, reason: 'x' };
    const missing = ['docs/a.md: npm start: no entry names a test or a reason'];
    expect(commandDifferences([block], [], inRepository)).toEqual(missing);
    expect(commandDifferences([block, block], [entry], inRepository)).toEqual(missing);
    expect(commandDifferences([block], [entry], inRepository)).toEqual([]);
  });

  test('fails when an entry has no block', () => {
    expect(commandDifferences([], [{ ...block, reason: 'x' }], inRepository)).toEqual([
      'docs/a.md: npm start: the document has no such block',
    ]);
  });

  test('fails when the test does not exist, and when there is neither or both', () => {
    expect(commandDifferences([block], [{ ...block, test: 'scripts/gone.test.ts' }], inRepository)).toEqual([
      'docs/a.md: npm start: scripts/gone.test.ts does not exist',
    ]);
    const one = 'docs/a.md: npm start: name either a test or a reason';
    expect(commandDifferences([block], [block], inRepository)).toEqual([one]);
    expect(commandDifferences([block], [{ ...block, test: 'package.json', reason: 'x' }], inRepository)).toEqual([one]);
  });
});
