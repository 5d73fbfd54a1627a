import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fingerprint, normalizeError } from './error-fingerprint.ts';

describe('the pattern of an error', () => {
  test.each([
    ['Request 42 failed after 3.5 s', 'Request <n> failed after <n> s'],
    ['cannot open /srv/data/a.json:12:3', 'cannot open <path>:<n>:<n>'],
    ['cannot open C:\\work\\a.json', 'cannot open <path>'],
    ["Cannot find module './x.ts' imported from src/a.ts", 'Cannot find module <text> imported from <path>'],
    ['task 0198c5a4-7c1e-7000-8000-000000000001 is gone', 'task <uuid> is gone'],
    ['2026-01-02T03:04:05.678Z worker lost', '<time> worker lost'],
    ['bad object 9aa22b0ffe in tree', 'bad object <n> in tree'],
    ['GET https://host.test/a/b?c=1 refused', 'GET <url> refused'],
    ['\u001b[31mred\u001b[0m  alert\n\n  twice', 'red alert twice'],
    ["can't read the users' files", "can't read the users' files"],
    ['the facade decided', 'the facade decided'],
  ])('%j reads as %j', (message, pattern) => {
    expect(normalizeError(message)).toBe(pattern);
  });

  test('the pattern of a pasted log is that of its beginning', () => {
    expect(normalizeError(`${' '.repeat(8_000)}unseen`)).toBe('');
  });

  test('ends in a whole character', () => {
    expect(normalizeError(`${'x'.repeat(499)}😀 and more`)).toBe('x'.repeat(499));
  });

  test('the pattern is short for any input, and a pasted log costs no more than a line', () => {
    const hostile = fc
      .constantFrom('a', '/', 'a/', "'", '"', '0', '-', '.', '\\', 'f', ' ', 'x:')
      .map((s) => s.repeat(200_000));
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ maxLength: 2_000 })), (message) => {
        const begun = process.cpuUsage();
        expect(normalizeError(message).length).toBeLessThanOrEqual(500);
        expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the fingerprint of an error', () => {
  test('the fingerprint is 16 hexadecimal digits of the SHA-256 of the pattern', () => {
    // sha256("boom <n>") begins with these digits.
    expect(fingerprint('boom 7')).toBe('647c10db34e863b3');
    fc.assert(fc.property(fc.string(), (message) => /^[0-9a-f]{16}$/.test(fingerprint(message))));
  });

  test('the fingerprint is equal for other places, times and numbers of the same error', () => {
    const occurrence = fc.record({
      n: fc.nat(),
      id: fc.uuid(),
      at: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') }),
      sha: fc.stringMatching(/^([0-9a-f]{7}|[0-9a-f]{40})$/).filter((sha) => /\d/.test(sha)),
      file: fc.stringMatching(/^(\/[a-z][a-z0-9_-]{0,9}){2,5}\.ts$/),
      text: fc.stringMatching(/^[\w $/.-]{0,30}$/),
    });
    const message = (o: { n: number; id: string; at: Date; sha: string; file: string; text: string }) =>
      `${o.at.toISOString()} step ${o.n} of run ${o.id} at ${o.sha} failed in ${o.file}:${o.n}: no "${o.text}"`;
    fc.assert(
      fc.property(occurrence, occurrence, (a, b) => {
        expect(normalizeError(message(a))).toBe(normalizeError(message(b)));
        expect(fingerprint(message(a))).toBe(fingerprint(message(b)));
      }),
    );
  });

  test('differs for different errors', () => {
    expect(fingerprint('connection refused by 10.0.0.1')).not.toBe(fingerprint('connection reset by 10.0.0.1'));
  });
});
