import { describe, expect, test } from '@jest/globals';
import {
  oneOf,
  onOff,
  optional,
  readAddress,
  someOf,
  text,
  wholeNumber,
  writeAddress,
} from '@pipeline/web/address/fields.ts';
import { parseSearch, stringifySearch } from '@pipeline/web/address/search-text.ts';
import fc from 'fast-check';

const FIELDS = {
  view: oneOf(['table', 'board'], 'table'),
  state: optional(['new', 'done']),
  kinds: someOf(['a', 'b']),
  done: onOff(),
  limit: wholeNumber(50, 1, 100),
  q: text(10),
};

describe('reading an address', () => {
  test('returns the fallbacks of what is absent', () => {
    expect(readAddress(FIELDS, {})).toEqual({
      values: { view: 'table', state: '', kinds: [], done: false, limit: 50, q: '' },
      rejected: [],
    });
  });

  test('names values that a field does not have, and ignores unknown parameters', () => {
    const { values, rejected } = readAddress(FIELDS, { view: 'cube', limit: '1e3', kinds: 'a,c', other: 'x', q: 'ok' });
    expect(values).toMatchObject({ view: 'table', limit: 50, kinds: [], q: 'ok' });
    expect(rejected).toEqual(['view=cube', 'kinds=a,c', 'limit=1e3']);
  });
});

test('reads what was written', () => {
  const values = fc.record({
    view: fc.constantFrom('table' as const, 'board' as const),
    state: fc.constantFrom('' as const, 'new' as const, 'done' as const),
    kinds: fc.uniqueArray(fc.constantFrom('a' as const, 'b' as const)),
    done: fc.boolean(),
    limit: fc.integer({ min: 1, max: 100 }),
    q: fc.string({ maxLength: 10 }),
  });
  fc.assert(
    fc.property(values, (given) => {
      const address = stringifySearch(writeAddress(FIELDS, given));
      expect(readAddress(FIELDS, parseSearch(address)).values).toEqual(given);
    }),
  );
});

test('the value of an absent parameter removes it', () => {
  expect(writeAddress(FIELDS, { view: 'table', limit: 50, done: true })).toEqual({
    view: undefined,
    limit: undefined,
    done: '1',
  });
});
