/** Text of strangers must never cost more than its length: every regular expression is linear. */
import { describe, expect, test } from '@jest/globals';
import { brokenPatterns, problemOf, readProven, sourcePatterns } from './linear-patterns.ts';
import { patternsOf } from './regular-expressions.ts';

describe('this repository', () => {
  const patterns = sourcePatterns();

  test('all regular expressions are linear', () => {
    expect(brokenPatterns(patterns, readProven())).toEqual([]);
  }, 900_000);

  test('reads the whole repository', () => {
    expect(patterns.length).toBeGreaterThan(200);
    expect(patterns.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'libs/domain/src/intake/text-dependencies.ts',
        'services/monitor/src/logs/log-filter.ts',
      ]),
    );
  });
});

describe('a pattern', () => {
  test.each([
    ['two runs of blanks that meet', '\\bfix\\s*:?\\s+#\\d+', 'i'],
    ['a run at the end', '\\s+$', ''],
    ['nested repetition', '^(?:a+)+$', ''],
    ['a run in a lookbehind', '(?<!\\bnot\\s+)depends', 'i'],
    ['an end that is sought from every beginning', '<!--[^>]*-->', 'g'],
  ])('refuses a pattern that has %s', (_what, source, flags) => {
    expect(problemOf({ line: 1, source, flags })).toMatch(/polynomial|exponential/);
  });

  test.each([
    ['^\\s+', ''],
    ['\\bfix(?: ?:)? #(\\d{1,10})\\b', 'i'],
    ['[^<>]*', 'g'],
  ])('passes when it is linear: %s', (source, flags) => {
    expect(problemOf({ line: 1, source, flags })).toBeNull();
  });

  test('a pattern that cannot be read from the source is refused', () => {
    expect(problemOf({ line: 1, source: null, flags: '' })).toContain('computed');
  });
});

describe('patterns are found in a source', () => {
  test('finds literals with their lines', () => {
    expect(patternsOf("#!/usr/bin/env node\nconst é = 'é';\nexport const x = é.replace(/a+/g, '');\n")).toEqual([
      { line: 3, source: 'a+', flags: 'g' },
    ]);
  });

  test('finds the text of a pattern that is built from constants', () => {
    const source = `const NAME = '[a-z]' + '+';
const REF = \`(\${NAME})#\`;
export const one = new RegExp(\`^\${REF}$\`, 'i');
export const two = (text: string) => new RegExp(\`^\${RegExp.escape(text)}$\`);`;
    expect(patternsOf(source)).toEqual([
      { line: 3, source: '^([a-z]+)#$', flags: 'i' },
      { line: 4, source: '^escaped$', flags: '' },
    ]);
  });

  test('finds a computed pattern without a text', () => {
    expect(patternsOf("export const f = (x: string) => new RegExp(x + '$');")).toEqual([
      { line: 1, source: null, flags: '' },
    ]);
  });
});
