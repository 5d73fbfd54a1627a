import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isPasswordHash, verifyPassword } from '@pipeline/engine';

export interface Credentials {
  username: string;
  password: string;
}

/** Finds out whether a pair is one of the configured ones. */
export interface CredentialCheck {
  /**
   * Returns whether the credentials are right, as far as that is known without work. It takes the same time whatever
   * differs.
   */
  isKnown(given: Credentials): boolean;
  /**
   * Checks the password against those that are configured as a hash; one that fits is known from then on. It takes the
   * same time for every username; false at once where no password is a hash. One check at a time, because it fills a
   * core.
   */
  proves(given: Credentials): Promise<boolean>;
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

interface Login {
  username: Buffer;
  /** Digest of the right password; random, so never equal, while only its hash is known. */
  password: Buffer;
  hash: string | null;
}

function loginOf({ username, password }: Credentials): Login {
  const isHash = isPasswordHash(password);
  const expected = isHash ? randomBytes(32) : digest(password);
  return { username: digest(username), password: expected, hash: isHash ? password : null };
}

/**
 * Makes the comparison with the configured pairs. Digests have one length, and all pairs are always compared in both
 * parts (interface: Surface B 4).
 */
export function credentialCheck(expected: readonly Credentials[]): CredentialCheck {
  const logins = expected.map(loginOf);
  const hasHashes = logins.some(({ hash }) => hash !== null);
  let turn: Promise<unknown> = Promise.resolve();

  const prove = async ({ username, password }: Credentials): Promise<boolean> => {
    const user = digest(username);
    const login = logins.filter((one) => timingSafeEqual(one.username, user))[0];
    const isRight = await verifyPassword(password, login?.hash ?? null);
    if (login && isRight) login.password = digest(password);
    return isRight;
  };

  return {
    isKnown({ username, password }) {
      const user = digest(username);
      const word = digest(password);
      const fits = logins.map((login) => {
        const sameUser = timingSafeEqual(login.username, user);
        const samePassword = timingSafeEqual(login.password, word);
        return sameUser && samePassword;
      });
      return fits.includes(true);
    },
    proves(given) {
      if (!hasHashes) return Promise.resolve(false);
      const proof = turn.then(() => prove(given));
      turn = proof.catch(() => undefined);
      return proof;
    },
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
