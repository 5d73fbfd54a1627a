import { timingSafeEqual } from 'node:crypto';
import { displayText } from '@pipeline/domain';
import { hashTokenBytes } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import type { Configuration, KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { OauthKeys } from '../accounts/keys.ts';
import {
  CODE_SECONDS,
  DEVICE_CODE_SECONDS,
  INTERACTION_SECONDS,
  type TokenLifetimes,
} from '../accounts/token-lifetimes.ts';
import { SCOPE } from '../auth/public-address.ts';
import { type AdapterDeps, adapters, type OauthLibrary } from './adapters.ts';
import { AuthorizationErrors, type ErrorPageDeps } from './authorization-errors.ts';
import { redirectKind } from './registration.ts';

export const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  device_authorization: '/oauth/device',
  // A page of ours, see routes/accounts/device.ts: the library only puts its address into responses.
  code_verification: '/account/device',
  // The library insists on a route for its keys; nothing leads there.
  jwks: '/oauth/jwks',
} as const;

export const interactionPath = (uid: string): string => `/oauth/interaction/${uid}`;

export interface ProviderDeps extends AdapterDeps, ErrorPageDeps {
  keys: OauthKeys;
  lifetimes: TokenLifetimes;
  /** Returns whether a metadata document may be fetched for this address now. */
  allowFetch: (client: string) => Promise<boolean>;
  log: Logger;
}

/** The OAuth server: the library's protocol over our store. Nothing is sent and no port is opened. */
export function createProvider(deps: ProviderDeps): Provider {
  const errorPages = new AuthorizationErrors(deps);
  const provider = new deps.library.Provider(deps.address.origin, configuration(deps, errorPages));
  errorPages.hold(provider);
  // Its addresses and the `secure` of its cookies come from headers that library-request.ts writes.
  provider.proxy = true;
  prefix(provider.AccessToken, 'mcp_at_');
  prefix(provider.ClientCredentials, 'mcp_at_');
  prefix(provider.RefreshToken, 'mcp_rt_');
  compareHashes(provider.Client);
  prefix(provider.Grant, 'conn_');
  provider.use(async (ctx, next) => {
    if (ctx.path !== ROUTES.token) return next();
    return deps.tokenRequests.run(async () => {
      await next();
      return ctx.status < 400;
    });
  });
  provider.use(withoutSession);
  logFailures(provider, deps.log);
  return provider;
}

/** Maximum length in the log of values that programs send and the library quotes in its errors. */
const LOGGED_LENGTH = 500;

interface TokenClass {
  prototype: object;
}

/** Puts a prefix before a model's ids. The library's own method is called: it also settles the token's format. */
function prefix(model: TokenClass, text: string): void {
  const prototype = model.prototype as { generateTokenId(): string };
  const original = prototype.generateTokenId;
  prototype.generateTokenId = function generateTokenId(this: object) {
    return `${text}${original.call(this)}`;
  };
}

/** Secrets of clients are stored as SHA-256; both sides have the same length. */
function compareHashes(model: TokenClass): void {
  const prototype = model.prototype as { clientSecret?: string; compareClientSecret(actual: string): boolean };
  prototype.compareClientSecret = function compareClientSecret(this: { clientSecret?: string }, actual) {
    return timingSafeEqual(hashTokenBytes(actual), Buffer.from(this.clientSecret ?? '', 'hex'));
  };
}

/**
 * Forgets the library's own session when an authorization is through. People log in to the product's session; with
 * two of them, a change of user in one browser would end in the library's logout form.
 */
async function withoutSession(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  if (!ctx.path.startsWith(`${ROUTES.authorization}/`)) return;
  const { session } = ctx.oidc;
  if (session?.exp === undefined) return;
  await session.destroy();
  ctx.cookies.set(ctx.oidc.provider.cookieName('session'), null);
}

/** Responses to clients contain few details of a refusal; the log has the reason. */
function logFailures(provider: Provider, log: Logger): void {
  const logAs = (message: string) => (ctx: KoaContextWithOIDC, error: Error) => {
    const { error_detail: detail } = error as { error_detail?: string };
    const clean = (text: unknown) => (text === undefined ? undefined : displayText(String(text), LOGGED_LENGTH));
    const client = ctx.oidc.client?.clientId;
    log.info(message, { client: clean(client), reason: clean(error.message), detail: clean(detail) });
  };
  provider.on('grant.error', logAs('token request refused'));
  provider.on('authorization.error', logAs('authorization refused'));
  provider.on('registration_create.error', logAs('registration refused'));
  provider.on('device_authorization.error', logAs('device authorization refused'));
  provider.on('revocation.error', logAs('revocation refused'));
  provider.on('server_error', (_ctx, error) => log.error('oauth request failed', { error }));
}

function configuration(deps: ProviderDeps, errorPages: AuthorizationErrors): Configuration {
  const { library, address, keys, lifetimes } = deps;
  return {
    adapter: adapters(deps),
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'EdDSA',
    },
    cookies: {
      keys: [...keys.cookies],
      names: { session: 'oauth_session', interaction: 'oauth_interaction', resume: 'oauth_resume' },
      long: { signed: true, httpOnly: true, sameSite: 'lax', secure: address.secure },
      short: { signed: true, httpOnly: true, sameSite: 'lax', secure: address.secure },
    },
    // The browser of a program that runs in one may call from where its redirects lead.
    clientBasedCORS: (_ctx, origin, client) =>
      client.redirectUris?.some((uri) => URL.parse(uri)?.origin === origin && origin !== 'null') ?? false,
    features: features(deps),
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    interactions: {
      policy: askEachTime(library) as never,
      url: (_ctx, { uid }) => interactionPath(uid),
    },
    jwks: { keys: [keys.signing as never] },
    // Ours by default: the consent of this very authorization, or two connections would share one id.
    async loadExistingGrant(ctx) {
      const grantId = ctx.oidc.result?.consent?.grantId;
      return grantId ? ctx.oidc.provider.Grant.find(grantId) : undefined;
    },
    pkce: { required: () => true },
    renderError: errorPages.render,
    responseTypes: ['code'],
    revokeGrantPolicy: () => true,
    rotateRefreshToken: true,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    routes: ROUTES,
    scopes: ['offline_access'],
    ttl: {
      AccessToken: lifetimes.accessSeconds,
      AuthorizationCode: CODE_SECONDS,
      ClientCredentials: lifetimes.accessSeconds,
      DeviceCode: DEVICE_CODE_SECONDS,
      Grant: lifetimes.connectionSeconds,
      Interaction: INTERACTION_SECONDS,
      RefreshToken: lifetimes.refreshSeconds,
      Session: INTERACTION_SECONDS,
    },
  };
}

const off = { enabled: false };

function features({ library, address, lifetimes, allowFetch }: ProviderDeps): NonNullable<Configuration['features']> {
  return {
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true, deviceInfo: (ctx) => ({ ip: ctx.ip }) },
    devInteractions: off,
    dPoP: off,
    introspection: off,
    pushedAuthorizationRequests: off,
    rpInitiatedLogout: off,
    userinfo: off,
    clientIdMetadataDocument: {
      enabled: true,
      ack: 'draft-02',
      // Without a request: the consent page, possibly on another replica, needs a document that was fetched before.
      allowFetch: (ctx: KoaContextWithOIDC | undefined) => ctx === undefined || allowFetch(ctx.ip),
      // Registered clients were held to this when they came.
      allowClient: (_ctx, { redirectUris = [] }) => redirectUris.every(isSafeRedirect),
    },
    registration: {
      enabled: true,
      initialAccessToken: false,
      issueRegistrationAccessToken: false,
      idFactory: () => `dcr_${crypto.randomUUID().replaceAll('-', '')}`,
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => address.resource,
      useGrantedResource: () => true,
      getResourceServerInfo(_ctx, indicator) {
        if (indicator !== address.resource)
          throw new library.errors.InvalidTarget(`the only resource here is ${address.resource}`);
        return {
          scope: SCOPE,
          audience: address.resource,
          accessTokenTTL: lifetimes.accessSeconds,
          accessTokenFormat: 'opaque',
        };
      },
    },
    revocation: {
      enabled: true,
      // A client revokes its own tokens only; the response does not show whether another's token exists.
      allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
    },
  };
}

function isSafeRedirect(uri: string): boolean {
  try {
    redirectKind(uri);
    return true;
  } catch {
    return false;
  }
}

/**
 * Every authorization asks who is there and whether they agree, and both are answered in one step: sessions of the
 * product are the only ones, and each consent makes a connection of its own.
 */
const askEachTime = ({ interactionPolicy: { Check, Prompt } }: OauthLibrary) => [
  new Prompt(
    { name: 'login', requestable: true },
    new Check('not_logged_in', 'a login is required', 'login_required', (ctx) => !ctx.oidc.result?.login),
  ),
  new Prompt(
    { name: 'consent', requestable: true },
    new Check('not_agreed', 'consent is required', 'consent_required', (ctx) => !ctx.oidc.result?.consent),
  ),
];
