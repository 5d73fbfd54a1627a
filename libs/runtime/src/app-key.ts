import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { StartError } from './start-error.ts';

/** PEM of an RSA private key; `\\n` stands for a line break, because files of variables hold one line per variable. */
export const envPemKey = () =>
  z
    .string()
    .transform((text) => text.replaceAll('\\n', '\n'))
    .refine(isRsaKey, 'must be the PEM of an RSA private key');

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

/** Id and private key of an app on a version-control host. */
export interface AppKey {
  appId: string;
  privateKey: string;
}

/**
 * Returns the app that the variables `<PREFIX>_APP_ID` and `<PREFIX>_APP_PRIVATE_KEY` configure; null without both.
 * @throws StartError when only one of them is set.
 */
export function requireAppKey(prefix: string, id: string | undefined, key: string | undefined): AppKey | null {
  if (id !== undefined && key !== undefined) return { appId: id, privateKey: key };
  if (id === undefined && key === undefined) return null;
  const missing = id === undefined ? 'APP_ID' : 'APP_PRIVATE_KEY';
  throw new StartError(
    `${prefix}_${missing}: must be set; ${prefix}_APP_ID and ${prefix}_APP_PRIVATE_KEY are required together`,
  );
}
