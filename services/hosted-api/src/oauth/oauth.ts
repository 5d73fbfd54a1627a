import type { IncomingMessage, ServerResponse } from 'node:http';
import { addressKey, createLoginLimit, type LoginFailure, type LoginLimit } from '@pipeline/http';
import type { Logger } from '@pipeline/runtime';
import { hasConnection, type Store } from '@pipeline/store';
import type { Provider } from 'oidc-provider';
import { BrowserSessions } from '../accounts/browser-sessions.ts';
import { oauthKeys } from '../accounts/keys.ts';
import { storedCounter } from '../accounts/login-limit.ts';
import type { TokenLifetimes } from '../accounts/token-lifetimes.ts';
import type { PublicAddress } from '../auth/public-address.ts';
import { sharedRateLimiter } from '../auth/shared-rate-limit.ts';
import { authorizationProblemPage } from '../pages/problem-page.ts';
import { type Consents, createConsents } from './consents.ts';
import { requireInnerAddressGuard } from './inner-addresses.ts';
import type { OauthLibrary } from './library.ts';
import { libraryRequest } from './library-request.ts';
import { createProvider, type ProviderDeps } from './provider.ts';
import { TokenRequests } from './token-requests.ts';

export interface OauthOptions {
  /** Secrets that all replicas share: the first one signs, all are accepted. */
  keys: readonly [string, ...string[]];
  lifetimes: TokenLifetimes;
  limits: {
    /** Failed logins in 5 minutes of one email from one address; 0 = no limit, here and below. */
    logins: number;
    /** New programs per hour and address. */
    registrations: number;
    /** Token requests per 5 minutes and address. */
    tokens: number;
  };
}

/** Codes of devices in 5 minutes of one user. */
const DEVICE_CODES = 20;

/** The library's server, and the classes of its errors. */
interface OauthServer {
  provider: Provider;
  errors: OauthLibrary['errors'];
  callback: ReturnType<Provider['callback']>;
}

/** The OAuth server and the logins that it needs. */
export interface Oauth {
  readonly server: () => Promise<OauthServer>;
  readonly consents: Consents;
  readonly sessions: BrowserSessions;
  readonly lifetimes: TokenLifetimes;
  readonly logins: LoginLimit;
  readonly registrations: ReturnType<typeof sharedRateLimiter>;
  readonly tokens: ReturnType<typeof sharedRateLimiter>;
  /** Codes of devices that a user enters; they must not be guessed. */
  readonly deviceCodes: ReturnType<typeof sharedRateLimiter>;
  /** Lets the OAuth library write the answer. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** The request as the library is to see it. */
  request(request: IncomingMessage, more: { client: string; url?: string; body?: string }): IncomingMessage;
}

interface OauthDeps {
  store: Store;
  address: PublicAddress;
  log: Logger;
  /** Records a failed login; it must not throw. */
  onLoginFailure: (failure: LoginFailure) => Promise<void>;
}

/** Wires the OAuth server. No statement is sent, and the library is not loaded. */
export function createOauth(
  { store, address, log, onLoginFailure }: OauthDeps,
  { keys: secrets, lifetimes, limits }: OauthOptions,
): Oauth {
  const keys = oauthKeys(secrets);
  const consents = createConsents();
  const sessions = new BrowserSessions(store, keys, address);
  const hour = { windowSeconds: 3600 };
  const registrations = sharedRateLimiter(store.tenant, { name: 'registration', limit: limits.registrations, ...hour });
  const server = createServer({
    store,
    address,
    consents,
    keys,
    lifetimes,
    log,
    tokenRequests: new TokenRequests(store.tenant),
    // To fetch a metadata document costs as much as a registration, and is one.
    allowFetch: (client) =>
      registrations.take(addressKey(client)).then(
        () => true,
        () => false,
      ),
    isApproved: async (request, clientId) => {
      const { account } = await sessions.visitor(request);
      return account !== null && hasConnection(store.tenant, account.id, clientId);
    },
    errorPage: authorizationProblemPage,
  });
  return {
    server,
    consents,
    registrations,
    sessions,
    lifetimes,
    logins: createLoginLimit({ limit: limits.logins, counter: storedCounter(store.tenant), onFailure: onLoginFailure }),
    deviceCodes: sharedRateLimiter(store.tenant, { name: 'device-code', limit: DEVICE_CODES, windowSeconds: 300 }),
    tokens: sharedRateLimiter(store.tenant, { name: 'token', limit: limits.tokens, windowSeconds: 300 }),
    answer: async (request, response) => (await server()).callback(request, response),
    request: (request, more) => libraryRequest(request, address, more),
  };
}

/**
 * Returns a function that creates the server at its first call. Its library is large, and most replicas answer for hours
 * without a request that needs it. It fetches documents of programs, so it is not loaded where its fetch could be led to
 * addresses inside (StartError).
 */
function createServer(deps: Omit<ProviderDeps, 'library'>): () => Promise<OauthServer> {
  let created: Promise<OauthServer> | undefined;
  const create = async (): Promise<OauthServer> => {
    requireInnerAddressGuard();
    const library = await import('oidc-provider');
    const provider = createProvider({ ...deps, library });
    return { provider, errors: library.errors, callback: provider.callback() };
  };
  return () => {
    created ??= create();
    return created;
  };
}
