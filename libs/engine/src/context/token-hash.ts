import { hash } from 'node:crypto';

/**
 * Hashes a token. The store has the SHA-256 only, and tokens are looked up by it, so no secret is ever compared.
 * @returns hexadecimal digits.
 */
export const hashToken = (token: string): string => hash('sha256', token, 'hex');

/** Returns the same hash as bytes, for columns of type `bytea`. */
export const hashTokenBytes = (token: string): Buffer => hash('sha256', token, 'buffer');
