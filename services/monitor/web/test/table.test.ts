import { describe, expect, test } from '@jest/globals';
import { nextOrder, parseOrder } from '@pipeline/web/table/column.ts';
import { inOrder } from '@pipeline/web/table/in-order.ts';
import { keysBetween } from '@pipeline/web/table/keys-between.ts';
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
