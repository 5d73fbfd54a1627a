import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { displayText } from './display.ts';

test.each([
  ['Reader', 'Reader'],
  ['Bank\u202e\u0000 of\nAnn ', 'Bank of Ann'],
  ['Pay\u200bPal', 'Pay Pal'],
  ['\u2066evil\u2069 \ufeffname\u00ad', 'evil name'],
  ['A\u3164\u115fB\u034fC', 'A B C'],
  ['line\u2028break\u2029here', 'line break here'],
  ['tag\u{e0041}ged', 'tag ged'],
  ['lone \ud800 half', 'lone \ufffd half'],
  ['e\u0301', 'é'],
  ['\u200b\u0000', ''],
])('shows %j as %j', (text, shown) => {
  expect(displayText(text, 100)).toBe(shown);
});

test('ends a longer text with an ellipsis, by characters and not by halves of them', () => {
  expect(displayText('abcdef', 6)).toBe('abcdef');
  expect(displayText('abcdefg', 6)).toBe('abcde…');
  expect(displayText('😀'.repeat(10), 4)).toBe('😀😀😀…');
});

test('keeps at most three combining marks on a letter', () => {
  expect(displayText(`x${'\u0330'.repeat(50)}y`, 100)).toBe(`x${'\u0330'.repeat(3)}y`);
});

test('returns one visible line within the length for any text, and the same again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const shown = displayText(text, 40);
      expect(Array.from(shown).length).toBeLessThanOrEqual(40);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(displayText(shown, 40)).toBe(shown);
    }),
  );
});

test('takes little time for a megabyte of anything', () => {
  for (const piece of [' ', '\u0330', '\u202e', 'a', '\ud800']) {
    const costs = [0, 1, 2].map(() => {
      const begun = process.cpuUsage();
      displayText(piece.repeat(1_048_576), 100);
      return process.cpuUsage(begun).user;
    });
    expect(Math.min(...costs)).toBeLessThan(50_000);
  }
});
