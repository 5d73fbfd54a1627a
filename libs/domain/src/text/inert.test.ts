import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fenced, inertText, quoted } from './inert.ts';

const parts = fc.constantFrom(
  '@octocat',
  '@acme/team',
  '<!-- svc:status -->',
  '<b>',
  '</p>',
  '![x](http://x)',
  '&#64;a',
  '&commat;a',
  '`',
  '```',
  '~~~',
  '\n',
  '\r',
  '\r\n',
  '\u2028',
  '\u0000',
  '\u202e',
  '> ',
  ' ',
  'word',
  '🙂',
  '\ud83d',
);
const hostile = fc.array(parts, { maxLength: 40 }).map((pieces) => pieces.join(''));

describe('external text in generated Markdown', () => {
  test('mentions no user and opens no tag, comment, entity or image', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const shown of [inertText(text, 500), quoted(text, 500), fenced(text, 500)]) {
          expect(shown).not.toMatch(/@[\w-]|<[A-Za-z!/?]|!\[|&[#A-Za-z]/);
          expect(shown).not.toMatch(/[[\p{Cc}\u202e\u2028]--\n]/v);
          expect(shown.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  test('does not leave its quotation', () => {
    fc.assert(
      fc.property(hostile, (text) =>
        quoted(text, 500)
          .split('\n')
          .every((line) => line.startsWith('>')),
      ),
    );
  });

  test('does not leave its fence, however many backticks it has', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const [opening = '', ...rest] = fenced(text, 500).split('\n');
        const fence = opening.replace('text', '');
        expect(rest.pop()).toBe(fence);
        expect(fence.length).toBeGreaterThanOrEqual(3);
        expect(rest.some((line) => line.includes(fence))).toBe(false);
      }),
    );
  });

  test('does not change harmless text', () => {
    const text = 'Use `a < b` & "c"?\n\n- mail at example dot org, 5 > 4, x @ y, wow!';
    expect(inertText(text, 500)).toBe(text);
  });

  test('keeps its lines, however they end', () => {
    expect(inertText('a\r\nb\rc\nd', 500)).toBe('a\nb\nc\nd');
  });

  test('cuts text at the given length', () => {
    expect(inertText('a'.repeat(11), 10)).toBe(`${'a'.repeat(10)}…`);
    expect(inertText('a'.repeat(10), 10)).toBe('a'.repeat(10));
    expect(inertText('🙂'.repeat(30), 10)).toBe(`${'🙂'.repeat(10)}…`);
  });
});
