import { createHash } from 'node:crypto';

/** Tokens are kept as SHA-256 only; the token itself is known to the worker alone. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
