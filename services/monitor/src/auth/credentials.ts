import { createHash, timingSafeEqual } from 'node:crypto';

export interface Credentials {
  username: string;
  password: string;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Makes the comparison with the one configured pair. It takes the same time whatever differs: digests have one length,
 * and both are always compared (interface: Surface B 4).
 */
export function credentialCheck(expected: Credentials): (given: Credentials) => boolean {
  const username = digest(expected.username);
  const password = digest(expected.password);
  return (given) => {
    const sameUser = timingSafeEqual(digest(given.username), username);
    const samePassword = timingSafeEqual(digest(given.password), password);
    return sameUser && samePassword;
  };
}

const BASIC = /^Basic +([A-Za-z0-9+/_-]+={0,2})$/i;

/** The pair of an `Authorization: Basic` header; null for any other header. A password may hold colons. */
export function parseBasic(header: string): Credentials | null {
  const encoded = BASIC.exec(header)?.[1];
  if (encoded === undefined) return null;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon === -1 ? null : { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}
