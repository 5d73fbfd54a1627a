import { isStorable } from '@pipeline/domain';

const PROBLEM = 'must not contain NUL or unpaired surrogates';

/** Returns the problem of the texts and keys of a JSON value, or null. */
export function unstorableIn(value: unknown, path: readonly string[] = []): string | null {
  if (typeof value === 'string') return isStorable(value) ? null : [path.join('.'), PROBLEM].filter(Boolean).join(': ');
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return `${[...path, 'a key'].join('.')}: ${PROBLEM}`;
    const problem = unstorableIn(inner, [...path, key]);
    if (problem !== null) return problem;
  }
  return null;
}

/** Returns the form with U+FFFD for each NUL, so that the page handles the input. */
export function sanitizeForm(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return /%00|\0/.test(text) ? Buffer.from(sanitizeUrlText(text), 'latin1') : bytes;
}

/** Percent-decoding replaces invalid UTF-8 by U+FFFD, so NUL is the only unstorable character in a query. */
export const sanitizeUrlText = (text: string): string => text.replace(/%00|\0/g, '%EF%BF%BD');
