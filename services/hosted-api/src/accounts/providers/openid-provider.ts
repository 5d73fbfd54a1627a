import type { ExternalIdentity } from '@pipeline/store';
import { LRUCache } from 'lru-cache';
import {
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  discovery,
  fetchUserInfo,
  type IDToken,
  type UserInfoResponse,
} from 'openid-client';
import type { ClientAuthMethod } from './client-auth-methods.ts';
import { finishCodeFlow, insecureIf, startCodeFlow, TIMEOUT_SECONDS, withProvider } from './code-flow.ts';
import { type IdentityProvider, LoginProblem } from './identity-provider.ts';

export interface OpenidOptions {
  /** Name of the provider in its discovery document. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  clientAuthMethod: ClientAuthMethod;
  label: string;
}

const DISCOVERY_TTL_MS = 60 * 60_000;
const ONLY = 'configuration';

/** Logins by OpenID Connect: code flow with PKCE, state and nonce. The discovery document is read at the first login. */
export function openidProvider(options: OpenidOptions, redirectUri: string): IdentityProvider {
  const { issuer, clientId, clientSecret, clientAuthMethod, label } = options;
  const authentication = clientAuthMethod === 'client_secret_post' ? ClientSecretPost : ClientSecretBasic;
  // A failure is not cached; concurrent logins share one request.
  const configurations = new LRUCache<typeof ONLY, Configuration>({
    max: 1,
    ttl: DISCOVERY_TTL_MS,
    fetchMethod: () =>
      discovery(new URL(issuer), clientId, undefined, authentication(clientSecret), {
        execute: insecureIf(issuer),
        timeout: TIMEOUT_SECONDS,
      }),
  });
  const configuration = () => configurations.forceFetch(ONLY);
  return {
    id: 'oidc',
    label,
    authorizationUrl: (secrets) =>
      withProvider(async () => {
        const parameters = { redirect_uri: redirectUri, scope: 'openid email profile', nonce: secrets.nonce };
        return startCodeFlow(await configuration(), secrets, parameters);
      }),
    identify: (query, secrets) =>
      withProvider(async () => {
        const config = await configuration();
        const tokens = await finishCodeFlow(config, { redirectUri, query, nonce: secrets.nonce }, secrets);
        const claims = tokens.claims();
        if (claims === undefined) throw new LoginProblem('failed', 'the provider sent no ID token');
        const { iss, sub } = claims;
        const known = 'email_verified' in claims || config.serverMetadata().userinfo_endpoint === undefined;
        return identityOf(iss, sub, known ? claims : await fetchUserInfo(config, tokens.access_token, sub));
      }),
  };
}

function identityOf(issuer: string, subject: string, claims: UserInfoResponse | IDToken): ExternalIdentity {
  const isVerified: unknown = claims.email_verified;
  // Some providers send the claim as text.
  if (isVerified !== true && isVerified !== 'true')
    throw new LoginProblem('unverified', 'the provider does not confirm the email address (claim email_verified)');
  const name = [claims.email, claims.preferred_username].find((value) => typeof value === 'string' && value !== '');
  return { issuer, subject, name: typeof name === 'string' ? name : subject };
}
