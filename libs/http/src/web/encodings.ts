import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';

/** Content encodings of responses, the smallest first. */
const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Encodings that the caller accepts, the smallest first; none for a caller that sends no Accept-Encoding. */
export function acceptedEncodings(request: IncomingMessage): Encoding[] {
  if (request.headers['accept-encoding'] === undefined) return [];
  const accepted = (request as Request).acceptsEncodings();
  return ENCODINGS.filter((encoding) => accepted.includes(encoding));
}
