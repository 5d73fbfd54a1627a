import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Column } from '../src/table/column.ts';
import { sortRows } from '../src/table/sort-rows.ts';
import { textKey } from '../src/table/text-keys.ts';

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

interface Row {
  title: string | null;
  cost?: number | null;
}

const column = (id: string, sort?: Column<Row>['sort']): Column<Row> => ({
  id,
  header: id,
  width: '1px',
  cell: () => null,
  sort,
});
const COLUMNS = [column('title', ({ title }) => title), column('cost', ({ cost }) => cost ?? null), column('why')];

const ascii = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 40,
});
/** Few characters, so that texts share beginnings: digits, both cases, and what stands beside numbers. */
const alike = fc.string({ unit: fc.constantFrom(...'0019aAbZ -.#`'), maxLength: 12 });
const any = fc.oneof(ascii, alike, fc.string({ unit: 'grapheme', maxLength: 12 }));

describe('keys of texts', () => {
  test('have the order of the alphabet, without case, and with numbers by size', () => {
    fc.assert(
      fc.property(fc.oneof(ascii, alike), fc.oneof(ascii, alike), (a, b) => {
        const [first, second] = [textKey(a) ?? '', textKey(b) ?? ''];
        const order = first < second ? -1 : Number(first > second);
        expect(order).toBe(Math.sign(collator.compare(a, b)));
      }),
      { numRuns: 3_000 },
    );
  });

  test('of the longest numbers have it as well', () => {
    const nines = '9'.repeat(255);
    const shorter = `${'0'.repeat(10)}${'9'.repeat(245)}`;
    expect((textKey(shorter) ?? '') < (textKey(nines) ?? '')).toBe(true);
    expect(collator.compare(shorter, nines)).toBeLessThan(0);
  });

  test('do not exist of texts that only the collator can order', () => {
    expect([textKey('für'), textKey('a\tb'), textKey('日本'), textKey('x'.repeat(256))]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('sorted rows', () => {
  test('are in the order of the alphabet, whatever their texts; equal ones keep theirs', () => {
    fc.assert(
      fc.property(fc.array(any, { maxLength: 30 }), fc.boolean(), (titles, isDescending) => {
        const rows = titles.map((title) => ({ title }));
        const sign = isDescending ? -1 : 1;
        const wanted = rows.toSorted((a, b) => sign * collator.compare(a.title, b.title));
        const sorted = sortRows<Row>(rows, COLUMNS, isDescending ? '-title' : 'title');
        expect(sorted.every((row, at) => row === wanted[at])).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('have those without a value last in both directions, and numbers by size', () => {
    const rows = [null, 10, 9, null, -1].map((cost, index) => ({ title: `${index}`, cost }));
    const titles = (order: string) => sortRows<Row>(rows, COLUMNS, order).map(({ title }) => title);
    expect(titles('cost')).toEqual(['4', '2', '1', '0', '3']);
    expect(titles('-cost')).toEqual(['1', '2', '4', '0', '3']);
  });

  test.each(['', 'why', 'unknown'])('are the same list in the order “%s”, by which there is no sorting', (order) => {
    const rows = [{ title: 'b' }, { title: 'a' }];
    expect(sortRows<Row>(rows, COLUMNS, order)).toBe(rows);
  });
});
