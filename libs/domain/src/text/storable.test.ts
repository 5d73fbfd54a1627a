import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hasWideNumber, sanitizeJson } from './storable.ts';

test('a number that no sanitization changes is found in its JSON or left as it is', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), (value, isNested) => {
      const json = JSON.stringify(isNested ? { a: [0, value] } : [value]);
      const parsed = JSON.parse(json);
      if (!hasWideNumber(json)) expect(sanitizeJson(parsed)).toEqual(parsed);
    }),
    { numRuns: 2_000 },
  );
});
