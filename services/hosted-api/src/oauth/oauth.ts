import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { addressKey, createLoginLimit, type LoginFailure, type LoginLimit, sanitizeUrlText } from '@pipeline/http';
import { type Logger, StartError } from '@pipeline/runtime';
import { hasConnection, type Store } from '@pipeline/store';
import type { Provider } from 'oidc-provider';
import { BrowserSessions } from '../accounts/browser-sessions.ts';
import { oauthKeys } from '../accounts/keys.ts';
import { storedCounter } from '../accounts/login-limit.ts';
import type { TokenLifetimes } from '../accounts/token-lifetimes.ts';
import type { PublicAddress } from '../auth/public-address.ts';
import { sharedRateLimiter } from '../auth/shared-rate-limit.ts';
import { authorizationProblemPage } from '../pages/problem-page.ts';
import { type Consents, createConsents, type OauthLibrary } from './adapters.ts';
import { createProvider, type ProviderDeps } from './provider.ts';
import { TokenRequests } from './token-requests.ts';

interface Rewritten {
  /** The caller's address, as far as proxies let it be known. */
  client: string;
  /** Path and query; default as they came. */
  url?: string;
  /** The whole body, as it is to be read. */
  body?: string;
}

const DISPATCHERS = ['undici.globalDispatcher.2', 'undici.globalDispatcher.1'];

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
  const registrations = sharedRateLimiter(store.db, { name: 'registration', limit: limits.registrations, ...hour });
  const server = createServer({
    store,
    address,
    consents,
    keys,
    lifetimes,
    log,
    tokenRequests: new TokenRequests(store),
    // To fetch a metadata document costs as much as a registration, and is one.
    allowFetch: (client) =>
      registrations.take(addressKey(client)).then(
        () => true,
        () => false,
      ),
    isApproved: async (request, clientId) => {
      const { account } = await sessions.visitor(request);
      return account !== null && hasConnection(store.db, account.id, clientId);
    },
    errorPage: authorizationProblemPage,
  });
  return {
    server,
    consents,
    registrations,
    sessions,
    lifetimes,
    logins: createLoginLimit({ limit: limits.logins, counter: storedCounter(store.db), onFailure: onLoginFailure }),
    deviceCodes: sharedRateLimiter(store.db, { name: 'device-code', limit: DEVICE_CODES, windowSeconds: 300 }),
    tokens: sharedRateLimiter(store.db, { name: 'token', limit: limits.tokens, windowSeconds: 300 }),
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

/**
 * A program may be known by the address of its metadata document, which is fetched from here. The OAuth library refuses
 * documents at addresses inside (loopback, private, link-local) by a hook in Node's fetch, and goes on with a
 * mere warning where it does not find the place for it.
 * @throws StartError on a Node where that hook cannot be set.
 */
function requireInnerAddressGuard(): void {
  // Loads fetch, which sets the dispatcher, here and for the library: it only names `Response`, and a bundler drops that.
  if (!new Response().ok) throw new StartError('this Node has no working fetch');
  const global = globalThis as unknown as Record<symbol, { constructor?: unknown } | undefined>;
  const dispatcher = DISPATCHERS.map((name) => global[Symbol.for(name)]).find((found) => found !== undefined);
  if (typeof dispatcher?.constructor !== 'function')
    throw new StartError(
      'this Node version cannot block outgoing requests to internal addresses; use the version in .nvmrc',
    );
}

/**
 * The request as the OAuth library is to see it. Host and scheme are ours, whatever was sent: it makes addresses from
 * them, and a forged Host header would lead browsers elsewhere. The store can hold every character of the URL. The body
 * has been read already, so that no client sends it slowly while a transaction is open.
 */
function libraryRequest(request: IncomingMessage, address: PublicAddress, more: Rewritten): IncomingMessage {
  const { origin, secure } = address;
  const {
    'x-forwarded-host': _host,
    'transfer-encoding': _encoding,
    'content-length': _length,
    ...sent
  } = request.headers;
  const { body = '' } = more;
  const url = sanitizeUrlText(more.url ?? request.url ?? '');
  const bytes = Buffer.from(body);
  const headers = {
    ...sent,
    host: new URL(origin).host,
    'x-forwarded-proto': secure ? 'https' : 'http',
    'x-forwarded-for': more.client,
    ...(bytes.length > 0 && { 'content-length': String(bytes.length) }),
  };
  const { method, socket, httpVersion, httpVersionMajor, httpVersionMinor } = request;
  const stream = Readable.from(bytes.length > 0 ? [bytes] : [], { objectMode: false });
  const facts = { method, url, originalUrl: url, headers, socket, httpVersion, httpVersionMajor, httpVersionMinor };
  return Object.assign(stream, facts) as unknown as IncomingMessage;
}
