import { hash } from 'node:crypto';

/** Tokens are stored as SHA-256 only; only the worker has the token itself. */
export const hashToken = (token: string): string => hash('sha256', token, 'hex');
