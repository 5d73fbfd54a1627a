import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Returns a strong ETag of a text, with its quotes. */
export const etagOf = (text: string): string =>
  `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;

/** Returns whether the If-None-Match of a request names an ETag (RFC 9110, 13.1.2: weak comparison). */
export function matchesEtag({ headers }: IncomingMessage, etag: string): boolean {
  const header = headers['if-none-match'];
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((one) => opaque(one.trim()) === opaque(etag));
}

const opaque = (etag: string): string => etag.replace(/^W\//, '');
