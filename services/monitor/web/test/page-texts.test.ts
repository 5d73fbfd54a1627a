/** Texts of the pages, as far as they need no browser. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { costText } from '../src/pages/agents/cost-text.ts';
import { curlLine, matches, type Operation } from '../src/pages/api/document.ts';
import { keyedEntries } from '../src/pages/logs/entries.ts';
import { envelopeInWords, slateInWords } from '../src/pages/strategy/words.ts';
import { cronInWords } from '../src/pages/tracks/cadence.ts';
import { slateOf, slateRows } from '../src/pages/tracks/slate-rows.ts';

describe('the cadence of a track', () => {
  test.each([
    ['0 3 * * 1', 'Monday at 03:00 UTC'],
    ['30 4 * * *', 'every day at 04:30 UTC'],
    ['5 * * * *', 'every hour at minute 5'],
    ['0 0 1 * *', 'day 1 of the month at 00:00 UTC'],
    ['*/5 * * * *', '*/5 * * * * (UTC)'],
    ['0 3 * 2 1', '0 3 * 2 1 (UTC)'],
  ])('shows %s as "%s"', (expr, words) => {
    expect(cronInWords(expr)).toBe(words);
  });
});

describe('the slate of a track', () => {
  const entry = fc.record(
    {
      size: fc.constantFrom('small' as const, 'epic' as const),
      count: fc.integer({ min: 1, max: 50 }),
      theme: fc.constant('docs'),
    },
    { requiredKeys: ['size', 'count'] },
  );

  test('the slate is the same after it was edited without a change', () => {
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 10 }), (slate) => {
        expect(slateOf(slateRows(slate))).toEqual(slate);
      }),
    );
  });

  test.each(['0', '51', '1.5', '', 'x', '-1'])('refuses a slate when a count is "%s"', (count) => {
    expect(slateOf([{ key: 1, size: 'small', count, theme: '', label: '' }])).toBeUndefined();
  });

  test('the slate is the default one without rows', () => {
    expect(slateOf(slateRows(null))).toBeNull();
    expect(slateInWords([])).toBe('the default slate');
  });
});

describe('the cost per merged pull request', () => {
  const text = (costPerMergeUsd: number | null, pricedIssues: number) =>
    costText({ costPerMergeUsd, pricedIssues, mergedIssues: 4 } as Parameters<typeof costText>[0]);

  test.each([
    [1.5, 4, '$1.50'],
    [0, 4, '$0.00'],
    [1.5, 3, '$1.50, known of 3 of 4'],
    [null, 0, 'unreported'],
  ])('a cost of %s, known of %s issues, is shown as "%s"', (usd, priced, shown) => {
    expect(text(usd, priced)).toBe(shown);
  });
});

describe('log entries', () => {
  const entry = (msg: string) => ({
    timestamp: '2026-01-01T00:00:00.000Z',
    level: 'info' as const,
    msg,
    agent: 'a',
    context: {},
  });

  test('keep their keys when newer ones of the same millisecond arrive', () => {
    const before = keyedEntries([entry('second'), entry('first')]);
    const after = keyedEntries([entry('third'), entry('second'), entry('first')]);
    expect(new Set(after.map(({ key }) => key)).size).toBe(3);
    expect(after.slice(1)).toEqual(before);
  });
});

describe('an operation of the API', () => {
  const operation: Operation = {
    method: 'post',
    path: '/api/issues/{owner}/retry',
    operationId: 'retryIssue',
    summary: 'Retry',
    parameters: [{ in: 'path', name: 'owner', example: "o'neil/x" }],
    requestBody: {},
  };

  test('the curl line is one that a shell reads as one address', () => {
    expect(curlLine({ ...operation, path: "/api/it's/{owner}" }, 'http://h')).toBe(
      String.raw`curl -u operator -X POST 'http://h/api/it'\''s/o'\''neil%2Fx' -H 'content-type: application/json' -d '{}'`,
    );
  });

  test('every word of the search finds the operation, in any order', () => {
    expect(matches(operation, 'ISSUES post')).toBe(true);
    expect(matches(operation, 'issues delete')).toBe(false);
  });
});

test('the envelope of a charter is shown as sentences', () => {
  expect(
    envelopeInWords({ max_auto_size: 'small', prefer: ['tests'], avoid: [], escalate_when: ['high', 'cost'] }),
  ).toEqual([
    'Work up to size small is increased without an operator.',
    'Where there is a choice, increase tests.',
    'Nothing is forbidden.',
    'Ask an operator about high, cost.',
  ]);
});
