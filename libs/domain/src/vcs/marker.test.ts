import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { endsWithMarker, hiddenMarker } from './marker.ts';

describe('endsWithMarker', () => {
  test('returns true for every marker at the end of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, marker) => {
        expect(endsWithMarker(`${text}\n\n${hiddenMarker(marker)}`)).toBe(true);
        expect(endsWithMarker(`${text}\n\n${hiddenMarker(marker)}\r\n`)).toBe(true);
      }),
    );
  });

  test.each([
    ['a text without one', '/svc:retry'],
    ['a quotation of one', '> status\n> <!-- svc:status -->\n\n/svc:retry'],
    ['two comments around a text', '<!-- svc:status --> /svc:retry -->'],
    ['another comment', '/svc:retry <!-- note -->'],
    ['an unfinished one', '/svc:retry <!-- svc:status'],
    ['nothing', ''],
  ])('returns false for %s', (_what, text) => {
    expect(endsWithMarker(text)).toBe(false);
  });
});
