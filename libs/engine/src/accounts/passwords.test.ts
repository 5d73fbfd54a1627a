import { argon2Sync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { hashPassword, verifyPassword } from './passwords.ts';

describe('a password', () => {
  test('stores a password as argon2id with its parameters and its own salt', async () => {
    const [a, b] = [await hashPassword('secret'), await hashPassword('secret')];
    expect(a).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(a).not.toBe(b);
  });

  test('accepts a password in any Unicode composition, and no other password', async () => {
    const hash = await hashPassword('caf\u00e9 au lait');
    expect(await verifyPassword('cafe\u0301 au lait', hash)).toBe(true);
    expect(await verifyPassword('cafe au lait', hash)).toBe(false);
    expect(await verifyPassword('', hash)).toBe(false);
  });

  test('verifies with the parameters of the hash, so that a later change of cost locks no user out', async () => {
    const nonce = Buffer.alloc(16, 7);
    const tag = argon2Sync('argon2id', {
      message: 'old',
      nonce,
      memory: 64,
      passes: 3,
      parallelism: 1,
      tagLength: 32,
    });
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replace(/=+$/, '');
    expect(await verifyPassword('old', `$argon2id$v=19$m=64,t=3,p=1$${text(nonce)}$${text(tag)}`)).toBe(true);
  });

  test('the password of an unknown user never matches, and costs as much as a wrong one', async () => {
    const hash = await hashPassword('secret');
    const cost = async (of: string | null) => {
      const begun = process.cpuUsage();
      expect(await verifyPassword('guess', of)).toBe(false);
      const { user, system } = process.cpuUsage(begun);
      return user + system;
    };
    await cost(null);
    const [unknown, known]: [number[], number[]] = [[], []];
    for (let round = 0; round < 5; round += 1) {
      unknown.push(await cost(null));
      known.push(await cost(hash));
    }
    // The least of each: other load on the machine only adds time.
    const ratio = Math.min(...unknown) / Math.min(...known);
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });

  test('throws for a hash of another kind', async () => {
    await expect(verifyPassword('x', '$2b$10$abcdefghijklmnopqrstuv')).rejects.toThrow('not argon2id');
  });
});
