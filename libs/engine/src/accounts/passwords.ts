import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { withoutTrailing } from '@pipeline/domain';

const derive = promisify(argon2);

/** OWASP's minimum for argon2id: memory in KiB, passes, lanes. About 30 ms of one core. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 };
const TAG_LENGTH = 32;

/** Limits on the length of a password in characters. Longer ones are no harder to guess, and hashing them costs. */
export const PASSWORD_LENGTH = { min: 12, max: 256 };

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Returns whether a text is an argon2id hash in the PHC string format, and not a password. */
export const isPasswordHash = (text: string): boolean => PHC.test(text);

/** The hash for the comparison of an unknown user's password: the same cost, and never equal. */
const NOBODY = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

const base64 = (bytes: Buffer) => withoutTrailing(bytes.toString('base64'), '=');

// The same characters may be entered as one code point or as two.
const message = (password: string) => password.normalize('NFC');

/** The password's argon2id hash in the PHC string format, which every argon2 library can verify. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const hash = await derive('argon2id', { ...COST, message: message(password), nonce, tagLength: TAG_LENGTH });
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(hash)}`;
}

/**
 * Returns whether the password matches the hash. For null (no such user, or one without password) it returns false and
 * takes as long as for a wrong password, so that the timing does not reveal which accounts exist.
 * @throws Error for a hash that is not argon2id in the PHC format.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(hash ?? NOBODY) ?? [];
  if (memory === undefined) throw new Error('the stored hash of a password is not argon2id in the PHC format');
  const expected = Buffer.from(tag, 'base64');
  const actual = await derive('argon2id', {
    message: message(password),
    nonce: Buffer.from(salt, 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  });
  return timingSafeEqual(actual, expected) && hash !== null;
}
