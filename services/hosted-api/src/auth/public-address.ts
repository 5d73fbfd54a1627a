/** The one scope: everything that may be read. What exactly is decided by the user's rights at each request. */
export const SCOPE = 'pipeline:read';

/**
 * Address at which this API is reached from outside, and values derived from it. No address is ever taken from a
 * request.
 */
export interface PublicAddress {
  /** Scheme, host and port; the issuer of tokens. */
  readonly origin: string;
  /** Resource that connections are for. It has a path, because some clients add a slash to a bare origin. */
  readonly resource: string;
  readonly resourceMetadata: string;
  /** True = browsers come by https, so cookies may be marked as secure. */
  readonly secure: boolean;
}

/** @param url scheme and host, without a path. */
export function publicAddress(url: string): PublicAddress {
  const { origin, protocol } = new URL(url);
  return {
    origin,
    resource: `${origin}/api`,
    resourceMetadata: `${origin}/.well-known/oauth-protected-resource/api`,
    secure: protocol === 'https:',
  };
}
