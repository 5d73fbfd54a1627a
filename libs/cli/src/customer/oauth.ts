import { hostname } from 'node:os';
import { displayText } from '@pipeline/domain';
import type { Configuration, DeviceAuthorizationResponse, TokenEndpointResponse } from 'openid-client';
import { InputError, LoginError, ServiceError } from '../command/errors.ts';
import type { UserLogin } from './login-file.ts';

/** Seconds until a response of the authorization server must be complete. */
const TIMEOUT_S = 20;

const SCOPE = 'pipeline:read';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** Clients register an address; the device flow does not use it. */
const UNUSED_REDIRECT = 'http://127.0.0.1/callback';

/** Loaded lazily: help and commands with a valid access token do without it. */
const library = () => import('openid-client');

/** Plain HTTP reaches this machine only; `--host` is checked for that. */
async function options(host: string) {
  const { allowInsecureRequests } = await library();
  const execute = host.startsWith('http:') ? [allowInsecureRequests] : [];
  return { algorithm: 'oauth2' as const, timeout: TIMEOUT_S, execute };
}

/** Registers this command as a client of the authorization server; it has no secret. */
export async function register(
  host: string,
  redirectUrl: string,
  moreGrants: readonly string[] = [],
): Promise<Configuration> {
  const { dynamicClientRegistration, None } = await library();
  const name = displayText(`pipeline on ${hostname()}`, 80);
  const grants = ['authorization_code', 'refresh_token', ...moreGrants];
  const metadata = { client_name: name, redirect_uris: [redirectUrl], grant_types: grants };
  return requested(host, async () => dynamicClientRegistration(new URL(host), metadata, None(), await options(host)));
}

/** An authorization request and what checks its response. */
export interface AuthorizationRequest {
  url: URL;
  checks: { pkceCodeVerifier: string; expectedState: string };
}

export async function authorizationRequest(
  config: Configuration,
  redirectUrl: string,
  state: string,
): Promise<AuthorizationRequest> {
  const { buildAuthorizationUrl, calculatePKCECodeChallenge, randomPKCECodeVerifier } = await library();
  const pkceCodeVerifier = randomPKCECodeVerifier();
  const url = buildAuthorizationUrl(config, {
    redirect_uri: redirectUrl,
    code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state,
    scope: SCOPE,
  });
  return { url, checks: { pkceCodeVerifier, expectedState: state } };
}

/** Exchanges the code of a redirect. @throws LoginError when the user refused. */
export async function redeem(
  host: string,
  config: Configuration,
  callback: URL,
  { checks }: AuthorizationRequest,
): Promise<UserLogin> {
  const { authorizationCodeGrant } = await library();
  const tokens = await requested(host, () => authorizationCodeGrant(config, callback, checks));
  return loginOf(config.clientMetadata().client_id, tokens);
}

/**
 * Requests a device code, shows it and polls until the user has decided.
 * @throws LoginError when the user refused or the code expired.
 */
export async function deviceLogin(
  host: string,
  show: (code: DeviceAuthorizationResponse) => void,
  signal: AbortSignal,
): Promise<UserLogin> {
  const { initiateDeviceAuthorization, pollDeviceAuthorizationGrant } = await library();
  const config = await register(host, UNUSED_REDIRECT, [DEVICE_GRANT]);
  if (config.serverMetadata().device_authorization_endpoint === undefined)
    throw new InputError(`${host} does not support --device; use --paste`);
  const code = await requested(host, () => initiateDeviceAuthorization(config, { scope: SCOPE }));
  show(code);
  const tokens = await requested(host, () => pollDeviceAuthorizationGrant(config, code, undefined, { signal }));
  return loginOf(config.clientMetadata().client_id, tokens);
}

/**
 * Exchanges a refresh token; the old one must not be used again.
 * @throws LoginError when the connection has ended.
 */
export async function refresh(host: string, { clientId, refreshToken }: UserLogin): Promise<UserLogin> {
  const { refreshTokenGrant } = await library();
  const config = await discover(host, clientId);
  const tokens = await requested(host, () => refreshTokenGrant(config, refreshToken));
  return loginOf(clientId, tokens);
}

/** Ends the connection with all of its tokens. */
export async function revoke(host: string, { clientId, refreshToken }: UserLogin): Promise<void> {
  const { tokenRevocation } = await library();
  const config = await discover(host, clientId);
  await requested(host, () => tokenRevocation(config, refreshToken));
}

async function discover(host: string, clientId: string): Promise<Configuration> {
  const { discovery, None } = await library();
  return requested(host, async () => discovery(new URL(host), clientId, {}, None(), await options(host)));
}

function loginOf(clientId: string, tokens: TokenEndpointResponse): UserLogin {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds = 0 } = tokens;
  if (refreshToken === undefined) throw new InputError('the service returned no refresh token');
  return { kind: 'user', clientId, accessToken, refreshToken, expiresAt: Date.now() + seconds * 1000 };
}

const ENDED = new Set(['invalid_grant', 'access_denied', 'invalid_client', 'expired_token']);

/** Turns errors of the library into those of commands. */
async function requested<T>(host: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (cause) {
    const { error, error_description: why, code, status } = cause as Record<string, unknown>;
    if (typeof error === 'string') {
      const text = displayText([error, why].filter(Boolean).join(': '), 500);
      if (ENDED.has(error)) throw new LoginError(`${text}; run pipeline login --host ${host}`, { cause });
      throw new InputError(`the service refused the request: ${text}`, { cause });
    }
    if (code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED')
      throw new InputError(`${host} is not the public address of the service; use the address in its PUBLIC_URL`, {
        cause,
      });
    const { cause: inner = cause } = cause as { cause?: unknown };
    const reason = inner instanceof Error ? inner.message : String(status ?? cause);
    throw new ServiceError(`${host} did not answer as a pipeline service: ${displayText(reason, 300)}`, { cause });
  }
}
