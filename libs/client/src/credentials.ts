import { PipelineError } from './errors.ts';

/** An access token of the hosted API. @param fresh the last one was refused. */
export type TokenSource = (fresh: boolean) => Promise<string> | string;

export interface ClientCredentials {
  /** Address of the hosted API. */
  url: string;
  clientId: string;
  clientSecret: string;
  fetch?: typeof fetch;
}

/**
 * Gets access tokens for a program without a user. A token is kept for four fifths of its lifetime; concurrent
 * calls share a request.
 */
export function clientCredentials({
  url,
  clientId,
  clientSecret,
  fetch: send = fetch,
}: ClientCredentials): TokenSource {
  let current: { token: Promise<string>; until: number } | null = null;
  const request = async (): Promise<string> => {
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const response = await send(new URL('/oauth/token', url), { method: 'POST', body: new URLSearchParams(form) });
    const body = (await response.json().catch(() => null)) as Record<string, unknown> | null;
    if (!response.ok || typeof body?.access_token !== 'string') {
      const { error, error_description: why } = body ?? {};
      throw new PipelineError(response, { code: error, error: `no access token: ${why ?? error ?? response.status}` });
    }
    if (current) current.until = Date.now() + Number(body.expires_in) * 800;
    return body.access_token;
  };
  return (fresh) => {
    if (current === null || fresh || Date.now() >= current.until) {
      current = { token: request(), until: Number.POSITIVE_INFINITY };
      current.token.catch(() => {
        current = null;
      });
    }
    return current.token;
  };
}
