import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FoldedText, LogFilter } from '../../src/logs/log-filter.ts';

describe('a text without regard to case', () => {
  const unit = fc.constantFrom('a', 'A', 'b', 'é', 'É', 'ß', 'ı', 'K', 'ſ', '.', '\ud83d');
  const text = (maxLength: number) => fc.string({ unit, maxLength });

  test('is found exactly when a regular expression finds it', () => {
    fc.assert(
      fc.property(text(5), text(30), (needle, haystack) => {
        expect(new FoldedText(needle).isIn(haystack)).toBe(new RegExp(RegExp.escape(needle), 'i').test(haystack));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is found wherever it stands in any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (before, needle, after) => {
        expect(new FoldedText(needle).isIn(before + needle.toUpperCase().toLowerCase() + after)).toBe(
          new RegExp(RegExp.escape(needle), 'i').test(before + needle.toUpperCase().toLowerCase() + after),
        );
      }),
    );
  });
});

describe('a search of the logs', () => {
  const MIB = 1_048_576;
  const query = { agent: null, level: null, issue: null, since: null };
  const lineOf = (msg: string) =>
    Buffer.from(`${JSON.stringify({ timestamp: '2026-03-01T12:00:00.000Z', level: 'info', msg })}\n`);

  test.each([
    [`${'a'.repeat(999)}b`, 'a'],
    [`b${'a'.repeat(999)}`, 'a'],
    [`${'ab'.repeat(499)}aa`, 'ab'],
    [`${'é'.repeat(500)}x`, 'é'],
    [`${'a '.repeat(400)}"`, 'a '],
  ])('costs under 100 ms of CPU for 1 MiB of repetitions of %s', (search, part) => {
    const bytes = lineOf(part.repeat(MIB / part.length));
    const filter = new LogFilter({ ...query, search });
    const costs = [0, 1, 2].map(() => {
      const before = process.cpuUsage();
      expect(filter.hits(bytes)).toEqual([]);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    expect(Math.min(...costs)).toBeLessThan(100);
  });
});
