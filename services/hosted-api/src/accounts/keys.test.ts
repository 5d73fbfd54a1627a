import { describe, expect, test } from '@jest/globals';
import { oauthKeys } from './keys.ts';

const [OLD, NEW] = ['an old key, long enough to be one', 'a new key, long enough to be one '];

describe('keys made from the configured ones', () => {
  test('keys are alike on all replicas, and differ by use', () => {
    const [a, b] = [oauthKeys([NEW, OLD]), oauthKeys([NEW, OLD])];
    expect(a.cookies).toEqual(b.cookies);
    expect(a.signing).toEqual(b.signing);
    expect(a.signing).toMatchObject({ kty: 'OKP', crv: 'Ed25519' });
    expect(new Set([...a.cookies, a.formToken('c'), NEW, OLD]).size).toBe(5);
  });

  test('accept the forms of an older key after a change, and no others', () => {
    const [before, after] = [oauthKeys([OLD]), oauthKeys([NEW, OLD])];
    expect(after.isFormToken('cookie', before.formToken('cookie'))).toBe(true);
    expect(before.isFormToken('cookie', after.formToken('cookie'))).toBe(false);
    expect(after.isFormToken('other cookie', after.formToken('cookie'))).toBe(false);
    for (const token of ['', 'x', after.formToken('cookie').slice(1)])
      expect(after.isFormToken('cookie', token)).toBe(false);
  });
});
