import { MAX_ISSUE_NUMBER, SLUG_PATTERN } from '@pipeline/domain';
import { z } from 'zod';

/**
 * Texts of parameters whose form is more than a JSON schema of zod says by itself: the document shows the same rule that the
 * server applies. `parameterProblems` compares both.
 */

/** `owner/name` as hosts spell it. */
export const slugText = (message: string) => z.string().regex(SLUG_PATTERN, message);

interface Bounds {
  min: number;
  max: number;
}

/** A whole number as JSON spells it: a text on the wire, an integer in the document. */
export const integerText = ({ min, max }: Bounds, message: string) =>
  z
    .string()
    .refine((text) => /^(?:0|-?[1-9]\d{0,15})$/.test(text) && Number(text) >= min && Number(text) <= max, message)
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });

/** The number of an issue. */
export const issueNumberText = (message: string) => integerText({ min: 1, max: MAX_ISSUE_NUMBER }, message);
