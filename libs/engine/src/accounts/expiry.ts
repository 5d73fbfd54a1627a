import { parseExpiry } from '@pipeline/domain';
import { refuse } from '../context/admin.ts';

/**
 * @returns the time of an `--expires`, as ISO 8601.
 * @throws AppError INVALID_INPUT for a text that is neither a duration nor a time, or not in the future.
 */
export function requireExpiry(text: string, now: Date): string {
  const at = parseExpiry(text, now);
  if (at === null)
    return refuse(`--expires must be a duration such as 30d or 12h, or a date such as 2027-01-31, got "${text}"`);
  if (at <= now) return refuse(`--expires must be in the future, got "${text}"`);
  return at.toISOString();
}
