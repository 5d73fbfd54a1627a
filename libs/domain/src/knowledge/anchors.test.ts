import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { extractAnchors, withFolders } from './anchors.ts';

const read = (title: string, body = '', labels: string[] = []) => extractAnchors({ title, body, labels });

describe('anchors', () => {
  test.each([
    ['see ./libs/store/src/dead-letters.ts:12', ['libs/store/src/dead-letters.ts']],
    ['at foo (/app/src/a.js)', ['app/src/a.js']],
    ['in dead-letters.ts and README.md', ['dead-letters.ts', 'README.md']],
    ['from https://example.org/a/b.ts', []],
    ['e.g. this, i.e. that, v1.2.3 and 3/4', []],
  ])('%j names the paths %j', (body, paths) => {
    expect(read('', body).paths).toEqual(paths);
  });

  test.each([
    ['call `retry()` or retryDeadLetter', ['retry', 'retryDeadLetter']],
    ['DeadLetter and dead_letter and MAX_HITS', ['DeadLetter', 'dead_letter', 'MAX_HITS']],
    ['Nothing here Is code', []],
  ])('%j names the code %j', (body, symbols) => {
    expect(read('', body).symbols).toEqual(symbols);
  });

  test('rank words of the title first, then labels, then the body; omit common words and our own labels', () => {
    const { words } = read('Refund is booked twice', 'the ledger, the ledger', ['svc:planning', 'billing']);
    expect(words).toEqual([
      { word: 'refund', weight: 3 },
      { word: 'booked', weight: 3 },
      { word: 'twice', weight: 3 },
      { word: 'billing', weight: 2 },
      { word: 'ledger', weight: 1 },
    ]);
  });

  test('finds few anchors, in linear time for any text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000 }), fc.string({ maxLength: 2_000 }), (title, body) => {
        const { paths, symbols, words } = read(title, body);
        expect([paths.length <= 20, symbols.length <= 10, words.length <= 12]).toEqual([true, true, true]);
        expect(paths.every((path) => path !== '' && !path.startsWith('/'))).toBe(true);
      }),
    );
    const begun = process.cpuUsage();
    for (const part of ['a/', 'aB', '`a', 'a_', 'a.', '../']) read(part.repeat(20_000), part.repeat(50_000));
    expect(process.cpuUsage(begun).user).toBeLessThan(5_000_000);
  });

  test('include the parent folders of a path', () => {
    expect(withFolders('/a/b/c.ts')).toEqual(['a', 'a/b', 'a/b/c.ts']);
  });
});
