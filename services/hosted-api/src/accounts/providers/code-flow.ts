import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
} from 'openid-client';
import { LoginProblem, type LoginSecrets } from './identity-provider.ts';

/** Seconds that a request to a provider may take; a person waits for it. */
export const TIMEOUT_SECONDS = 10;

/** Allows http for a provider whose address, as configured, has it. */
export const insecureIf = (url: string): ((config: Configuration) => void)[] =>
  url.startsWith('http:') ? [allowInsecureRequests] : [];

/** Returns the address at which the person logs in, with state and PKCE. */
export async function startCodeFlow(
  config: Configuration,
  { state, codeVerifier }: LoginSecrets,
  parameters: Record<string, string>,
): Promise<URL> {
  const challenge = await calculatePKCECodeChallenge(codeVerifier);
  return buildAuthorizationUrl(config, {
    response_type: 'code',
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...parameters,
  });
}

interface Callback {
  redirectUri: string;
  query: URLSearchParams;
  /** null = the provider does not know OpenID Connect: no ID token is expected. */
  nonce: string | null;
}

/** Checks the parameters of a callback and exchanges its code. */
export function finishCodeFlow(
  config: Configuration,
  { redirectUri, query, nonce }: Callback,
  { state, codeVerifier }: LoginSecrets,
) {
  const url = new URL(redirectUri);
  url.search = query.toString();
  return authorizationCodeGrant(config, url, {
    expectedState: state,
    pkceCodeVerifier: codeVerifier,
    ...(nonce !== null && { expectedNonce: nonce, idTokenExpected: true }),
  });
}

/** Runs requests to a provider. @throws LoginProblem for every failure of them. */
export async function withProvider<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LoginProblem) throw error;
    const isDenied = error instanceof AuthorizationResponseError && error.error === 'access_denied';
    throw new LoginProblem(isDenied ? 'denied' : 'failed', reasonOf(error), { cause: error });
  }
}

const MAX_CAUSES = 4;

/** The messages of an error and its causes with OAuth's code and description, and nothing else of the answer: it has tokens. */
function reasonOf(error: unknown): string {
  const texts: unknown[] = [];
  let at = error;
  for (let depth = 0; depth < MAX_CAUSES && at instanceof Error; depth += 1, at = at.cause) {
    const { error: code, error_description: description } = at as { error?: unknown; error_description?: unknown };
    texts.push(at.message, code, description);
  }
  return texts.filter((text) => typeof text === 'string' && text !== '').join(': ');
}
