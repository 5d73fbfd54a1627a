import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { RequestError } from '@octokit/request-error';
import { Octokit } from '@octokit/rest';
import { sanitizeJson, withoutTrailing } from '@pipeline/domain';
import { deadlineSignal } from '@pipeline/runtime';
import { HostError } from './errors.ts';
import { addressById } from './repo-address.ts';

interface HostLog {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface ClientOptions {
  /** Root of the REST API, such as `https://api.github.com` or `https://host/api/v3`. */
  baseUrl: string;
  token?: string;
  /** Any Octokit auth strategy with its `auth` options (an app installation, say), in place of `token`. */
  authStrategy?: unknown;
  auth?: unknown;
  clientType: 'github' | 'sandbox';
  fetch?: typeof fetch;
  userAgent: string;
  log?: HostLog;
  /** One answer may take that long; default 30,000 ms. */
  timeoutMs?: number;
}

const Client = Octokit.plugin(addressById, throttling, retry);
export type Client = InstanceType<typeof Client>;

const silent: HostLog = { debug() {}, info() {}, warn() {}, error() {} };

/** These are answers, not accidents: asking again inside the process would only delay the outbox's own decision. */
const ANSWERS = [400, 401, 403, 404, 405, 409, 410, 422, 429, 451];

/**
 * An Octokit that never sleeps through a rate limit, never repeats or redirects a write by itself and never leaves
 * `baseUrl`'s origin. Reads are repeated twice, within a second, when the network or the host stumbles.
 */
export function createClient(options: ClientOptions): Client {
  const { token, log = silent } = options;
  const baseUrl = withoutTrailing(options.baseUrl, '/');
  const client = new Client({
    baseUrl,
    userAgent: options.userAgent,
    auth: token ?? options.auth,
    ...(options.authStrategy ? { authStrategy: options.authStrategy } : {}),
    log: { ...log, error: log.debug },
    request: { fetch: fetchOf(options), log },
    retry: { doNotRetry: ANSWERS, retries: 2, retryAfterBaseValue: 200 },
    throttle: {
      // The spacing of writes is what the public host asks for; the sandbox on the same machine asks for none.
      enabled: options.clientType === 'github',
      id: baseUrl,
      onRateLimit: () => false,
      onSecondaryRateLimit: () => false,
    },
  });
  guard(client, baseUrl);
  return client;
}

const MOVED = 'the repository was renamed or transferred: the write waits until its new name is known';

/** Returns the function that sends the requests of a client. */
export const fetchOf = ({ fetch: send = fetch, timeoutMs = 30_000 }: ClientOptions): typeof fetch =>
  fetchWithTimeout(send, timeoutMs);

function guard(client: Client, baseUrl: string): void {
  const home = new URL(baseUrl).origin;
  client.hook.before('request', (options) => {
    const { origin } = new URL(options.url, home);
    if (origin !== home) {
      throw new HostError('refused', `refused a link to ${origin}: this client only connects to ${home}`);
    }
    if (options.method !== 'GET') options.request = { ...options.request, retries: 0, redirect: 'manual' };
  });
  client.hook.after('request', (response, options) => {
    const request = client.request.endpoint(options);
    const { status, headers } = response;
    const isRedirected = status >= 300;
    if (!isAbout(request.url, isRedirected ? (headers.location ?? '') : response.url)) {
      throw new RequestError('moved to another repository', 404, { request, response: { ...response, status: 404 } });
    }
    // Only a write is redirected here. It must not be repeated blindly: the new address may belong to another owner.
    if (isRedirected) throw new HostError('no-access', MOVED, { httpStatus: status });
  });
  // Octokit hands out the text of a body that broke off half-way as if it were the data.
  client.hook.after('request', (response, options) => {
    const isText = options.request?.plainText === true;
    if (typeof response.data === 'string' && response.status !== 204 && !isText) {
      const { method, url, body, headers } = client.request.endpoint(options);
      const request = { method, url, body, headers, request: options.request };
      throw new RequestError('the response ended early or is not JSON', 500, { request });
    }
  });
  // A log, or an escape in JSON, may hold a NUL or half of a surrogate pair, which Postgres refuses.
  client.hook.after('request', (response) => {
    if (!(response.data instanceof ArrayBuffer)) response.data = sanitizeJson(response.data);
  });
}

const OBJECT = /\/(repos\/[^/?]+\/[^/?]+|repositories\/\d+)\/(?:issues|pulls)\/(\d+)(?=[/?]|$)/;

/**
 * Returns whether an answer is about the issue or pull request of the request. The host redirects requests of a
 * transferred issue to the repository where it is now. A repository that is addressed by its name may be redirected to its id.
 */
function isAbout(requested: string, answered: string): boolean {
  const [, repo = '', number] = OBJECT.exec(requested) ?? [];
  const [, answeredRepo, answeredNumber] = OBJECT.exec(answered) ?? [];
  if (number === undefined || answeredNumber === undefined) return true;
  return number === answeredNumber && (repo === answeredRepo || !repo.startsWith('repositories/'));
}

function fetchWithTimeout(send: typeof fetch, timeoutMs: number): typeof fetch {
  return (url, init = {}) => {
    return send(url, { ...init, signal: deadlineSignal(timeoutMs, init.signal ?? undefined) });
  };
}
