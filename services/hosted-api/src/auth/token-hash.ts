import { hash } from 'node:crypto';

/** The hash under which a token is stored; it is looked up by it, so no secret is ever compared. */
export const hashOfToken = (token: string): Buffer => hash('sha256', token, 'buffer');
