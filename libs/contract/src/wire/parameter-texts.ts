import { MAX_ISSUE_NUMBER, SLUG_PATTERN } from '@pipeline/domain';
import { z } from 'zod';

/**
 * Parameter schemas whose documented JSON Schema is written explicitly, because zod cannot derive it from the
 * validation. `parameterProblems` checks that document and server agree.
 */

/** Repo slug `owner/name`. */
export const slugText = (message: string) => z.string().regex(SLUG_PATTERN, message);

interface Bounds {
  min: number;
  max: number;
}

/** Integer parameter in JSON syntax: text on the wire, integer in the document. */
export const integerText = ({ min, max }: Bounds, message: string) =>
  z
    .string()
    .refine((text) => /^(?:0|-?[1-9]\d{0,15})$/.test(text) && Number(text) >= min && Number(text) <= max, message)
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });

/** Issue number parameter. */
export const issueNumberText = (message: string) => integerText({ min: 1, max: MAX_ISSUE_NUMBER }, message);
