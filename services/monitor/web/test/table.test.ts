import { describe, expect, test } from '@jest/globals';
import { nextOrder, parseOrder } from '@pipeline/web/table/column.ts';
import { inOrder } from '@pipeline/web/table/frozen-order.ts';
import { slotsOf } from '@pipeline/web/table/use-row-slots.ts';
import { keysBetween } from '@pipeline/web/table/use-selection.ts';
import fc from 'fast-check';
import { linePath } from '../src/charts/line-path.ts';
import { stackedSums } from '../src/charts/stacked-sums.ts';

describe('a table', () => {
  test('goes through ascending, descending and its own order when a header is pressed', () => {
    expect([
      nextOrder('', 'cost'),
      nextOrder('cost', 'cost'),
      nextOrder('-cost', 'cost'),
      nextOrder('-age', 'cost'),
    ]).toEqual(['cost', '-cost', '', 'cost']);
    expect([parseOrder(''), parseOrder('-cost')]).toEqual([null, { column: 'cost', descending: true }]);
  });

  test('keeps its rows in place while it is frozen; new rows come last', () => {
    const order = new Map([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ]);
    expect(inOrder(['new', 'c', 'a', 'b'], (row) => row, order)).toEqual(['a', 'b', 'c', 'new']);
  });

  test('selects a range in both directions, and one row when its start is gone', () => {
    const all = ['a', 'b', 'c', 'd'];
    expect(keysBetween(all, 'b', 'd')).toEqual(['b', 'c', 'd']);
    expect(keysBetween(all, 'd', 'b')).toEqual(['b', 'c', 'd']);
    expect(keysBetween(all, 'gone', 'c')).toEqual(['c']);
    expect(keysBetween(all, 'a', 'gone')).toEqual([]);
  });
});

describe('a chart', () => {
  test('stacks each layer on those below', () => {
    expect(
      stackedSums([
        [1, 2],
        [3, 0],
        [0, 5],
      ]),
    ).toEqual([
      [1, 2],
      [4, 2],
      [4, 7],
    ]);
  });

  test('interrupts a line where there is no value', () => {
    expect(
      linePath(
        [1, null, 2, 3],
        (index) => index,
        (value) => value,
      ),
    ).toBe('M0 1M2 2L3 3');
  });
});

describe('the elements of rows in view', () => {
  const numbers = (before: Record<string, number>, keys: string[], isReused = true): object =>
    Object.fromEntries(slotsOf(new Map(Object.entries(before)), keys, isReused));

  test('stay with rows that stay in view, and go from rows that leave to rows that come', () => {
    expect(numbers({}, ['a', 'b', 'c'])).toEqual({ a: 0, b: 1, c: 2 });
    expect(numbers({ a: 0, b: 1, c: 2 }, ['b', 'c', 'd'])).toEqual({ b: 1, c: 2, d: 0 });
    expect(numbers({ b: 1, c: 2, d: 0 }, ['a', 'b', 'c'])).toEqual({ b: 1, c: 2, a: 0 });
    expect(numbers({ a: 0, b: 1 }, ['x', 'y', 'z'])).toEqual({ x: 0, y: 1, z: 2 });
  });

  test('elements are new for rows that come while the focus is inside of a row', () => {
    expect(numbers({ a: 0, b: 1, c: 2 }, ['b', 'c', 'd', 'e'], false)).toEqual({ b: 1, c: 2, d: 3, e: 4 });
  });

  test('each row has its own element, whatever comes and goes', () => {
    fc.assert(
      fc.property(fc.array(fc.uniqueArray(fc.nat(30)), { maxLength: 20 }), fc.boolean(), (views, isReused) => {
        let slots: ReadonlyMap<string, number> = new Map();
        for (const view of views) {
          slots = slotsOf(slots, view.map(String), isReused);
          expect(new Set(slots.values()).size).toBe(view.length);
        }
      }),
    );
  });
});
