import { hasUnstorableEscape, sanitizeJson } from '@pipeline/domain';

/**
 * Returns whether the text is a JSON-RPC batch. Only revision 2025-03-26 of the protocol has batches; each call of one
 * would pass the rate limit as a part of one request, and all of them would run at the same time.
 */
export const isBatch = (message: string): boolean => message.trimStart().startsWith('[');

/** The message with U+FFFD for each NUL and unpaired surrogate, which the store takes in no argument. */
export function sanitizeMessage(message: string): string {
  if (!hasUnstorableEscape(message)) return message;
  try {
    return JSON.stringify(sanitizeJson(JSON.parse(message)));
  } catch {
    // The protocol's library answers what is no JSON.
    return message;
  }
}
