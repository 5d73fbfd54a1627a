import { requireInnerAddressGuard } from './inner-addresses.ts';

export type OauthLibrary = typeof import('oidc-provider');

/**
 * Loads the OAuth library. It fetches documents of programs, and is not used where its fetch could be led to addresses
 * inside.
 * @throws StartError on a Node where that cannot be ensured.
 */
export function loadOauthLibrary(): Promise<OauthLibrary> {
  requireInnerAddressGuard();
  return import('oidc-provider');
}
