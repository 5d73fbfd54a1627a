import { createHmac, createPrivateKey, hkdfSync, type JsonWebKey, timingSafeEqual } from 'node:crypto';

/** Keys that all replicas must have in common, made from the configured keys. */
export interface OauthKeys {
  /** Sign cookies: the first one does, all are accepted. */
  readonly cookies: readonly string[];
  /** The library insists on a signing key. Nothing is ever signed with it: tokens are opaque. */
  readonly signing: JsonWebKey;
  /** Proves that a form was made for the browser that holds this cookie. */
  formToken(cookie: string): string;
  isFormToken(cookie: string, token: string): boolean;
}

/** DER of an Ed25519 private key, up to its 32 bytes. */
const ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** @param keys at least one; the newest first. */
export function oauthKeys(keys: readonly [string, ...string[]]): OauthKeys {
  const derive = (key: string, use: string) => Buffer.from(hkdfSync('sha256', key, '', `pipeline ${use}`, 32));
  const der = Buffer.concat([ED25519, derive(keys[0], 'signing')]);
  const forms = keys.map((key) => derive(key, 'forms'));
  const proof = (key: Buffer, cookie: string) => createHmac('sha256', key).update(cookie).digest();
  return {
    cookies: keys.map((key) => derive(key, 'cookies').toString('base64url')),
    signing: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' }),
    formToken: (cookie) => proof(forms[0] as Buffer, cookie).toString('base64url'),
    isFormToken(cookie, token) {
      const given = Buffer.from(token, 'base64url');
      return forms.some((key) => {
        const wanted = proof(key, cookie);
        return given.length === wanted.length && timingSafeEqual(given, wanted);
      });
    },
  };
}
