import { z } from 'zod';

interface PageRule {
  limit: { default: number; max: number };
  /**
   * Handling of a value that is not a number: return 400, or use the default. With `default`, a limit of 0 or below also
   * means the default; with `refuse`, it is clamped to 1.
   */
  notANumber: 'refuse' | 'default';
}

export const MAX_OFFSET = 2_147_483_647;

const otherwise = { refuse: '', default: ' Anything else means the default.' } as const;
const outOfRange = {
  refuse: 'other integers are clamped.',
  default: 'larger values are clamped.',
} as const;

/**
 * Query parameters `limit` and `offset` of a list. Values out of range are clamped; `notANumber` decides about others.
 * The document shows plain integers without bounds because out-of-range values are accepted.
 */
export const pageQuery = ({ limit, notANumber }: PageRule) => ({
  limit: clamped({ min: 1, max: limit.max, fallback: limit.default, notANumber }).meta({
    description: `Maximum number of items, 1 to ${limit.max}; ${outOfRange[notANumber]} Default ${limit.default}.${otherwise[notANumber]}`,
    example: limit.default,
  }),
  offset: clamped({ min: 0, max: MAX_OFFSET, fallback: 0, notANumber }).meta({
    description: `Number of items to skip. Default 0. Values out of range are clamped.${otherwise[notANumber]}`,
    example: 0,
  }),
});

interface ClampRule {
  min: number;
  max: number;
  fallback: number;
  notANumber: 'refuse' | 'default';
}

/** An integer clamped to its bounds. With `notANumber: 'default'`, values below `min` mean the fallback. */
export function clamped({ min, max, fallback, notANumber }: ClampRule) {
  const read = (value: unknown) => {
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && number < min && notANumber === 'default') return undefined;
    if (typeof number === 'number') return Math.min(max, Math.max(min, number));
    return notANumber === 'default' ? undefined : value;
  };
  // The cast hides the preprocess step from the client type: callers pass a number or undefined.
  return z.preprocess(read, z.int('must be a whole number').default(fallback)) as unknown as z.ZodDefault<z.ZodInt>;
}
