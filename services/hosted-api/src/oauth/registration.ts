import { DEVICE_GRANT } from '@pipeline/contract';
import { programName } from '../accounts/program.ts';

const MAX_REDIRECTS = 20;

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const GRANT_TYPES = ['authorization_code', 'refresh_token'];

/** A refused registration, as RFC 7591 reports it. */
export class BadRegistration extends Error {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata';

  constructor(error: BadRegistration['error'], description: string) {
    super(description);
    this.error = error;
  }
}

/**
 * Returns the fields of a client's metadata that are passed to the OAuth library. The library accepts too much: plain
 * http to any host as the redirect of a "web" client, and secrets, which it would store in clear. Clients that register
 * themselves have no secret, so the method of authentication is always registered as `none`. Unknown fields are left
 * out, as RFC 7591 allows.
 * @throws BadRegistration saying what would be right.
 */
export function cleanRegistration(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new BadRegistration('invalid_client_metadata', 'the body must be a JSON object');
  const {
    redirect_uris: redirects,
    client_name: name,
    client_uri: uri,
    grant_types: grants,
  } = body as Record<string, unknown>;
  const isDevice = Array.isArray(grants) && grants.includes(DEVICE_GRANT);
  if (!Array.isArray(redirects) || redirects.length === 0 || redirects.length > MAX_REDIRECTS)
    throw new BadRegistration('invalid_redirect_uri', `redirect_uris must contain 1 to ${MAX_REDIRECTS} URIs`);
  if (name !== undefined && typeof name !== 'string')
    throw new BadRegistration('invalid_client_metadata', 'client_name must be a string');
  const kinds = redirects.map(redirectKind);
  if (uri !== undefined && !(typeof uri === 'string' && /^https:\/\//.test(uri) && URL.canParse(uri)))
    throw new BadRegistration('invalid_client_metadata', 'client_uri must be an https:// address');
  return {
    redirect_uris: redirects,
    // Loopback redirects with any port are for native clients only, and many of those do not say that they are.
    application_type: kinds.includes('native') ? 'native' : 'web',
    client_name: programName(name),
    ...(uri !== undefined && { client_uri: uri }),
    grant_types: isDevice ? [...GRANT_TYPES, DEVICE_GRANT] : GRANT_TYPES,
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

/** A scheme that a program has to itself: a reversed domain, so it has a dot (RFC 8252, 7.1). */
const OWN_SCHEME = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/;

/**
 * Classifies an address to which tokens may be sent: https, or this user's own machine by a loopback address or a
 * scheme of the program's own.
 * @throws BadRegistration for everything else.
 */
export function redirectKind(redirect: unknown): 'web' | 'native' {
  const url = typeof redirect === 'string' ? URL.parse(redirect) : null;
  if (!url) throw new BadRegistration('invalid_redirect_uri', `not an address: ${String(redirect).slice(0, 100)}`);
  const refuse = (why: string) => new BadRegistration('invalid_redirect_uri', `${url.href.slice(0, 200)}: ${why}`);
  if (/[\s\p{Cc}\p{Cf}]/u.test(String(redirect))) throw refuse('must not contain spaces or invisible characters');
  if (url.hash !== '' || String(redirect).includes('#')) throw refuse('must not contain a fragment');
  if (url.username !== '' || url.password !== '') throw refuse('must not contain credentials');
  if (url.protocol === 'https:') return 'web';
  if (url.protocol === 'http:') {
    if (LOOPBACK.has(url.hostname)) return 'native';
    throw refuse('http:// is allowed for localhost, 127.0.0.1 and [::1] only; use https://');
  }
  if (!OWN_SCHEME.test(url.protocol))
    throw refuse('a custom scheme must be a reversed domain, such as com.example.app:');
  return 'native';
}
