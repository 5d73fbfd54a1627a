import { z } from 'zod';

interface PageRule {
  limit: { default: number; max: number };
  /**
   * What a value that is no number means: refuse it with 400, or take the default. A lenient list also takes the default
   * for a limit of 0 or below; other lists clamp it to 1.
   */
  notANumber: 'refuse' | 'default';
}

export const MAX_OFFSET = 2_147_483_647;

const otherwise = { refuse: '', default: ' Anything else means the default.' } as const;
const outOfRange = {
  refuse: 'other whole numbers are clamped.',
  default: 'more is clamped.',
} as const;

/**
 * `limit` and `offset` of a list. Out of range is clamped; what is no integer is refused or defaulted by rule.
 * The document shows plain integers: a clamped bound is no constraint on the caller.
 */
export const pageQuery = ({ limit, notANumber }: PageRule) => ({
  limit: clamped({ min: 1, max: limit.max, fallback: limit.default, notANumber }).meta({
    description: `How many items, 1 to ${limit.max}; ${outOfRange[notANumber]}${otherwise[notANumber]}`,
    example: limit.default,
  }),
  offset: clamped({ min: 0, max: MAX_OFFSET, fallback: 0, notANumber }).meta({
    description: `How many items to skip; a number out of range is clamped.${otherwise[notANumber]}`,
    example: 0,
  }),
});

interface ClampRule {
  min: number;
  max: number;
  fallback: number;
  notANumber: 'refuse' | 'default';
}

/** A whole number that is moved into its bounds; one below them is the fallback if other texts are as well. */
export function clamped({ min, max, fallback, notANumber }: ClampRule) {
  const read = (value: unknown) => {
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && number < min && notANumber === 'default') return undefined;
    if (typeof number === 'number') return Math.min(max, Math.max(min, number));
    return notANumber === 'default' ? undefined : value;
  };
  // The reading step is typed away: a caller of the client gives a number or nothing.
  return z.preprocess(read, z.int('must be a whole number').default(fallback)) as unknown as z.ZodDefault<z.ZodInt>;
}
