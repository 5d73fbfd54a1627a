import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { pageQuery } from '../../src/index.ts';

const rule = { default: 100, max: 500 };
const refusing = z.object(pageQuery({ limit: rule, notANumber: 'refuse' }));
const lenient = z.object(pageQuery({ limit: rule, notANumber: 'default' }));

describe('pageQuery', () => {
  test('clamps any whole number, and takes the default for a limit below 1 when the list is lenient', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (limit, offset) => {
        const given = { limit: String(limit), offset: String(offset) };
        const expected = { limit: Math.min(500, Math.max(1, limit)), offset: Math.max(0, offset) };
        expect(refusing.parse(given)).toEqual(expected);
        expect(lenient.parse(given)).toEqual({ ...expected, ...(limit < 1 && { limit: 100 }) });
      }),
    );
  });

  test('uses the defaults for absent parameters', () => {
    for (const schema of [refusing, lenient]) expect(schema.parse({})).toEqual({ limit: 100, offset: 0 });
  });

  test.each(['', '+7', 'ten', '1.5', '1e2', '0x10', ' 1', 'NaN'])(
    '%j is refused or defaulted, by its rule',
    (limit) => {
      expect(refusing.safeParse({ limit }).success).toBe(false);
      expect(lenient.parse({ limit })).toEqual({ limit: 100, offset: 0 });
    },
  );

  test('a number with more digits than a number holds is clamped too', () => {
    expect(refusing.parse({ limit: '9'.repeat(400) }).limit).toBe(500);
  });
});
