import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BUCKETS, clamp, clampPage, MAX_OFFSET, PAGE_RULES, pageOf } from './paging.ts';

const rules = fc.constantFrom(...Object.values(PAGE_RULES));
const anyNumber = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(undefined, Infinity, -Infinity, NaN, 0, -0));

describe('the page to read', () => {
  test.each([
    ['issueFindings', 100, 200],
    ['findings', 100, 200],
    ['intelligence', 200, 500],
    ['issueEvents', 50, 200],
    ['agentMessages', 500, 2_000],
    ['logs', 200, 1_000],
    ['deadLetters', 100, 500],
    ['consistency', 100, 500],
    ['pipelineEvents', 50, 200],
    ['issues', 100, 500],
  ] as const)('a page of %s has %d rows by default and %d at most', (name, standard, max) => {
    expect(clampPage({}, PAGE_RULES[name])).toEqual({ limit: standard, offset: 0 });
    expect(clampPage({ limit: 1_000_000, offset: -1 }, PAGE_RULES[name])).toEqual({ limit: max, offset: 0 });
    expect(clampPage({ limit: 0 }, PAGE_RULES[name]).limit).toBe(1);
  });

  test('lies inside the bounds for any number, and is unchanged inside them', () => {
    fc.assert(
      fc.property(rules, anyNumber, anyNumber, (rule, limit, offset) => {
        const page = clampPage({ limit, offset }, rule);
        expect(Number.isSafeInteger(page.limit) && Number.isSafeInteger(page.offset)).toBe(true);
        expect(page.limit).toBeGreaterThanOrEqual(rule.min);
        expect(page.limit).toBeLessThanOrEqual(rule.max);
        expect(page.offset).toBeGreaterThanOrEqual(0);
        expect(page.offset).toBeLessThanOrEqual(MAX_OFFSET);
        expect(clampPage(page, rule)).toEqual(page);
      }),
    );
  });

  test('clamps buckets of a time series alike', () => {
    expect([clamp(undefined, BUCKETS), clamp(0, BUCKETS), clamp(169, BUCKETS)]).toEqual([48, 1, 168]);
  });
});

describe('the envelope of a page', () => {
  test('lists every row once from page to page, with a total and without', () => {
    const sizes = {
      rows: fc.integer({ min: 0, max: 60 }),
      limit: fc.integer({ min: 1, max: 20 }),
      counted: fc.boolean(),
    };
    fc.assert(
      fc.property(fc.record(sizes), ({ rows, limit, counted }) => {
        const all = Array.from({ length: rows }, (_, index) => index);
        const met: number[] = [];
        for (let offset = 0, more = true; more; offset += limit) {
          const read = all.slice(offset, offset + limit + 1);
          const { items, page } = pageOf(read, { limit, offset }, counted ? rows : null);
          expect(page.total).toBe(counted ? rows : null);
          expect(items.length).toBeLessThanOrEqual(limit);
          met.push(...items);
          more = page.hasMore;
          if (rows > 0) expect(offset).toBeLessThan(rows);
        }
        expect(met).toEqual(all);
      }),
    );
  });
});
