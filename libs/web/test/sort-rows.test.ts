import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Column } from '../src/table/column.ts';
import { sortRows } from '../src/table/use-sorted.ts';

interface Row {
  title: string | null;
  cost?: number | null;
}

const column = (id: string, sort?: Column<Row>['sort']): Column<Row> => ({
  id,
  header: id,
  width: '1px',
  cell: () => null,
  ...(sort === undefined ? {} : { sort }),
});
const COLUMNS = [column('title', ({ title }) => title), column('cost', ({ cost }) => cost ?? null), column('why')];
const titles = (rows: readonly Row[], order: string) => sortRows(rows, COLUMNS, order).map(({ title }) => title);

describe('sorted rows', () => {
  test('sorts by the alphabet without case and accents, with numbers by size', () => {
    const rows = ['Zebra', 'issue 10', 'äpfel', 'Issue 9', 'apple'].map((title) => ({ title }));
    expect(titles(rows, 'title')).toEqual(['äpfel', 'apple', 'Issue 9', 'issue 10', 'Zebra']);
    expect(titles(rows, '-title')).toEqual(['Zebra', 'issue 10', 'Issue 9', 'apple', 'äpfel']);
  });

  test('keep their order where they are equal, in both directions', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 })), fc.constantFrom('cost', '-cost'), (costs, order) => {
        const rows = costs.map((cost, index) => ({ title: `${index}`, cost }));
        const sign = order === 'cost' ? 1 : -1;
        const wanted = rows.toSorted((a, b) => sign * (a.cost - b.cost));
        expect(titles(rows, order)).toEqual(wanted.map(({ title }) => title));
      }),
    );
  });

  test('sorts rows without a value last in both directions, and numbers by size', () => {
    const rows = [null, 10, 9, null, -1].map((cost, index) => ({ title: `${index}`, cost }));
    expect(titles(rows, 'cost')).toEqual(['4', '2', '1', '0', '3']);
    expect(titles(rows, '-cost')).toEqual(['1', '2', '4', '0', '3']);
  });

  test.each(['', 'why', 'unknown'])('returns the same list in the order “%s”, which sorts by no column', (order) => {
    const rows = [{ title: 'b' }, { title: 'a' }];
    expect(sortRows<Row>(rows, COLUMNS, order)).toBe(rows);
  });
});
