import { argon2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

/** OWASP's minimum for argon2id: memory in KiB, passes, lanes. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 };

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/** The password's argon2id hash in the PHC string format, which every argon2 library can verify. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const hash = await derive('argon2id', { ...COST, message: password, nonce, tagLength: 32 });
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(hash)}`;
}
