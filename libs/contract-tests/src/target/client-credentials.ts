import type { ClientCredentials } from './credentials.ts';
import { TargetError } from './target-error.ts';

interface IssuedToken {
  token: string;
  /** Milliseconds from now. */
  expiresInMs: number;
}

/** @throws TargetError when the hosted API at the address issues no token. */
export async function requestToken(url: string, { clientId, clientSecret }: ClientCredentials): Promise<IssuedToken> {
  const endpoint = `${url.replace(/\/$/, '')}/oauth/token`;
  const refused = (why: string) => new TargetError(`${endpoint} issues no token to client ${clientId}: ${why}`);
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  try {
    const response = await fetch(endpoint, { method: 'POST', body: new URLSearchParams(form) });
    const text = await response.text();
    if (response.status !== 200) throw refused(`${response.status} ${text.slice(0, 200)}`);
    const { access_token: token, expires_in: seconds } = JSON.parse(text) as Record<string, unknown>;
    // The answer itself is not shown: it may contain a token.
    if (typeof token !== 'string') throw refused('its 200 answer has no access_token');
    if (typeof seconds !== 'number' || seconds <= 0) throw refused('its 200 answer has no expires_in above 0');
    return { token, expiresInMs: seconds * 1_000 };
  } catch (error) {
    if (error instanceof TargetError) throw error;
    throw refused(error instanceof SyntaxError ? 'its 200 answer is not JSON' : String(error));
  }
}

/**
 * A token that is replaced after half of its lifetime, by the first request after that. A renewal that fails leaves it.
 * @returns the current token. @throws TargetError when the first one is refused.
 */
export async function renewedToken(url: string, credentials: ClientCredentials): Promise<() => string> {
  let current = await requestToken(url, credentials);
  let renewAt = Date.now() + current.expiresInMs / 2;
  const renew = async () => {
    renewAt = Date.now() + current.expiresInMs / 10;
    current = await requestToken(url, credentials);
    renewAt = Date.now() + current.expiresInMs / 2;
  };
  return () => {
    if (Date.now() >= renewAt) renew().catch(() => undefined);
    return current.token;
  };
}
