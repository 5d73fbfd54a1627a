import { describe, expect, test } from '@jest/globals';
import { formatAge, formatDuration } from '@pipeline/web/format/duration.ts';
import { formatAtLeast, formatIssueCost, formatSum, formatUsd } from '@pipeline/web/format/money.ts';
import { formatSigned, plural } from '@pipeline/web/format/number.ts';
import { shortId } from '@pipeline/web/format/short-id.ts';
import { formatFull, formatHourMinute } from '@pipeline/web/format/time.ts';
import fc from 'fast-check';
import { contextText } from '../src/pages/logs/context.ts';

describe('durations', () => {
  test.each([
    [0, '0 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [3_600_000, '1 h'],
    [5_460_000, '1 h 31 min'],
    [26 * 3_600_000, '1 d 2 h'],
    [40 * 86_400_000 + 7_200_000, '40 d'],
    [-5, '0 s'],
    [null, '–'],
  ])('%s ms is %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  test('never contain a unit that is too large to read', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (ms) => {
        const numbers = formatDuration(ms).match(/\d+/g)?.slice(-1).map(Number) ?? [];
        expect(Math.max(...numbers)).toBeLessThan(ms < 86_400_000 ? 60 : 20_000);
      }),
    );
  });

  test('ages below five seconds and in the future are "just now"', () => {
    expect([formatAge(1_000, 5_000), formatAge(9_000, 5_000), formatAge(0, 5_000)]).toEqual([
      'just now',
      'just now',
      '5 s ago',
    ]);
  });
});

describe('money', () => {
  test.each([
    [0, '$0.00'],
    [0.0042, '$0.0042'],
    [0.01, '$0.01'],
    [1_234.5, '$1,234.50'],
    [12_345.6, '$12,346'],
    [null, 'unreported'],
  ])('%s is %s', (usd, text) => expect(formatUsd(usd)).toBe(text));

  test('the cost of an issue is unreported when agents worked and reported nothing', () => {
    expect([formatIssueCost(0, true), formatIssueCost(0, false), formatIssueCost(2, true)]).toEqual([
      'unreported',
      '–',
      '$2.00',
    ]);
  });

  test.each([
    [2, 0, '$2.00'],
    [2, 1, '$2.00 + 1 unreported'],
    [0, 1_200, '1,200 unreported'],
    [0, 0, '$0.00'],
  ])('a sum of %s beside %s unreported costs is %s', (usd, unreported, text) =>
    expect(formatSum(usd, unreported)).toBe(text),
  );

  test.each([
    [2, 0, '$2.00'],
    [2, 3, '≥ $2.00'],
    [0, 3, 'unreported'],
    [0, 0, '–'],
  ])('a narrow column shows a sum of %s beside %s unreported costs as %s', (usd, unreported, text) =>
    expect(formatAtLeast(usd, unreported)).toBe(text),
  );
});

test('counts have their noun, differences their sign', () => {
  expect([plural(1, 'issue'), plural(2_500, 'issue'), plural(0, 'reply', 'replies')]).toEqual([
    '1 issue',
    '2,500 issues',
    '0 replies',
  ]);
  expect([formatSigned(1.25), formatSigned(-0.4), formatSigned(0)]).toEqual(['+1.3', '−0.4', '0']);
});

test('times name their zone', () => {
  const at = Date.parse('2026-03-29T23:59:59Z');
  expect(formatHourMinute(at, 'utc')).toBe('23:59');
  expect(formatFull(at, 'utc')).toBe('29 Mar 2026, 23:59:59 UTC');
});

test('an id keeps its kind and its last block, a name stays as it is', () => {
  expect(shortId('wkr_58b93307-c08b-4d2c-bf75-2a1c8f7f7b3a')).toBe('wkr_…8f7f7b3a');
  expect(shortId('developer')).toBe('developer');
});

describe('the context of a log entry', () => {
  test('the context shows what a reader needs before the ids', () => {
    const context = { requestId: 'bb200a83', method: 'GET', path: '/api/issues', issue: { number: 7 } };
    expect(contextText({ context })).toBe('method=GET path=/api/issues issue={"number":7} requestId=bb200a83');
  });

  test('the context is cut, however long it is', () => {
    expect(contextText({ context: { text: 'x'.repeat(1_000) } })).toHaveLength(400);
  });
});
