import { createHash } from 'node:crypto';

/** Tokens are stored as SHA-256 only; only the worker has the token itself. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
